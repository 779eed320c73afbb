#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::data {

/// Throws DataError naming `place` unless an array of this shape and number of values has rows of the
/// features that the spec declares.
void CheckRowShape(const DataSpec& spec, const std::filesystem::path& place,
                   const std::vector<std::size_t>& shape, std::size_t values);

/// Divides by the spec's scale. `first` is how many values of the array come before these; it gives the row
/// and column of a DataError, which is thrown for a value that is not finite or beyond kLargestValue in
/// magnitude.
/// Pre: `out` has room for them. For unsigned bytes and doubles.
template <typename T>
void ToFeatures(const DataSpec& spec, const std::filesystem::path& place, std::size_t first,
                std::span<const T> values, float* out);

}  // namespace trefoil::data

#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/npy.h"

namespace trefoil::data {

/// Reads the array `name` of an NPZ file (a zip archive of NPY files, stored or deflated).
/// Throws DataError if the file or array is missing, damaged or encrypted, or no array that ReadNpy reads.
[[nodiscard]] NpyArray ReadNpz(const std::filesystem::path& path, const std::string& name);

/// Replaces `path` by an NPZ file of these arrays, in this order, not compressed. Equal arrays give equal
/// bytes: every entry is dated 1 January 1980. Throws std::runtime_error if it cannot be written.
void WriteNpz(const std::filesystem::path& path, const std::vector<std::pair<std::string, NpyArray>>& arrays);

}  // namespace trefoil::data

#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace trefoil::data {

/// Reads row `row` into `out`.
using RowReader = std::function<void(std::size_t row, std::span<float> out)>;

/// How many of the rows (of `columns` values, as many as labels) are the same as an earlier one, label
/// included. Time: of reading each once, and of sorting their hashes; rows of equal hash are read again.
/// Memory: 16 bytes a row.
[[nodiscard]] std::int64_t CountRepeatedRows(const RowReader& read, std::size_t columns,
                                             const std::vector<int>& y);

}  // namespace trefoil::data

#pragma once
#include <cstdint>
#include <vector>

#include "data/table.h"

namespace trefoil::data {

/// How many rows are the same as an earlier one, label included. Time and memory: of a hash table of the
/// rows' numbers. Pre: a label a row.
[[nodiscard]] std::int64_t CountRepeatedRows(const Matrix& x, const std::vector<int>& y);

}  // namespace trefoil::data

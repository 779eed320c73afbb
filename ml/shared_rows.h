#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mpc/share.h"

namespace trefoil::ml {

/// These rows, in this order and as often as they are named, of matrices that stand one below the other: row
/// numbers count through all of them. Local.
/// Pre: at least one matrix, all of one width; every number below the sum of their heights.
/// Throws: ContractError on no matrix or a row that is in none.
[[nodiscard]] mpc::ArithShare RowsAt(std::span<const mpc::ArithShare> data,
                                     const std::vector<std::int64_t>& rows);

/// The same of one matrix.
[[nodiscard]] inline mpc::ArithShare RowsAt(const mpc::ArithShare& x, const std::vector<std::int64_t>& rows) {
  return RowsAt(std::span(&x, 1), rows);
}

}  // namespace trefoil::ml

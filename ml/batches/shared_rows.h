#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mpc/narrow/packed_share.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// These rows, in this order and as often as they are named, of matrices that stand one below the other: row
/// numbers count through all of them. Then zeros, up to `height` rows. Local.
/// Pre: at least one matrix, all of one width; every number below the sum of their heights; no more rows than
/// `height`.
/// Throws: ContractError on no matrix, a row that is in none, or too many.
[[nodiscard]] mpc::ArithShare RowsAt(std::span<const mpc::ArithShare> data,
                                     const std::vector<std::int64_t>& rows, std::int64_t height);

/// The same of one matrix, without zeros.
[[nodiscard]] inline mpc::ArithShare RowsAt(const mpc::ArithShare& x, const std::vector<std::int64_t>& rows) {
  return RowsAt(std::span(&x, 1), rows, static_cast<std::int64_t>(rows.size()));
}

/// The same of narrow rows, as one block with both components, zeros included: how much a step holds and
/// multiplies does not follow from which rows there are (docs/explanation/privacy.md, "Public sampling").
[[nodiscard]] mpc::PackedShare RowsAt(const mpc::PackedShare& x, const std::vector<std::int64_t>& rows,
                                      std::int64_t height);

}  // namespace trefoil::ml

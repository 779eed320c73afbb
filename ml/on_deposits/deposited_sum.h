#pragma once
#include <vector>

#include "mpc/share.h"

namespace trefoil::ml {

/// The sum of rows that all three parties hold on shares (columns as ml/batches/deposited_rows.h), of their
/// features alone: features x 1, as a 3-of-3 sharing, exact modulo 2^64. Padding, which is zeros, adds
/// nothing. Sums of each party's components: nothing is sent, nothing opens.
///
/// Pre:    rows that FaultyRows (protocols/comparison/row_check.h) finds no fault with: so a record adds a
///         vector whose squared norm is within its bound, whoever made it, and padding nothing.
/// Throws: ContractError for fewer columns than features.
[[nodiscard]] mpc::AdditiveShare SumOfDeposited(mpc::Index features,
                                                const std::vector<mpc::ArithShare>& deposited);

}  // namespace trefoil::ml

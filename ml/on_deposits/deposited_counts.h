#pragma once
#include <vector>

#include "mpc/share.h"

namespace trefoil::ml {

/// How many records of each class rows have that all three parties hold on shares (columns as
/// ml/batches/deposited_rows.h, labels of `classes` classes): classes x 1. Padding counts for none. Sums of
/// each party's components: nothing is sent, nothing opens. Exact modulo 2^64.
///
/// Pre:    rows that FaultyRows (protocols/comparison/row_check.h) finds no fault with: so a record adds 1 to
///         one count and 0 to the others, whoever made it. At least two classes.
/// Throws: ContractError for fewer classes, or another number of columns.
[[nodiscard]] mpc::ArithShare CountsOfDeposited(mpc::Index features, mpc::Index classes,
                                                const std::vector<mpc::ArithShare>& deposited);

}  // namespace trefoil::ml

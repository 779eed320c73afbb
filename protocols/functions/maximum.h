#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// The largest element of each row, read as signed numbers: one column, exactly. A tournament of neighbours.
/// Whatever the elements are, the result is one of the row's; it is the largest under the precondition.
/// Pre:    |x - y| < 2^(width - 1) for any two elements of a row; 2 <= width <= 64; at least one column.
/// Cost:   RowMaximumCost: ceil(log2(c)) levels for c columns, each of at most 11 rounds (bulk) or 3
///         (latency). Levels overlap where a party need not wait, so that their rounds may add up to a few
///         less.
/// Throws: ContractError without columns or on the width, before anything is sent; NetworkError,
///         ProtocolError.
[[nodiscard]] mpc::ArithShare RowMaximum(mpc::Context& party, const mpc::ArithShare& x, int width = 64,
                                         Form form = Form::kBulk);
[[nodiscard]] mpc::Cost RowMaximumCost(mpc::Index rows, mpc::Index cols, int width = 64,
                                       Form form = Form::kBulk);

/// Where each row has its largest element: 1 there and 0 elsewhere, in the shape of x; among equal elements,
/// at the first. Pre and Throws: as above.
/// Cost:   RowMaximumCost, and from c = 2 on at most ceil(log2(c)) - 1 rounds and c - 2 products a row more.
[[nodiscard]] mpc::ArithShare RowArgMax(mpc::Context& party, const mpc::ArithShare& x, int width = 64,
                                        Form form = Form::kBulk);
[[nodiscard]] mpc::Cost RowArgMaxCost(mpc::Index rows, mpc::Index cols, int width = 64,
                                      Form form = Form::kBulk);

/// The number, from 0, of the column in which each row has its 1: one column. Local. Pre: RowArgMax's result,
/// or other shares with one 1 in each row and 0 elsewhere.
[[nodiscard]] mpc::ArithShare ColumnNumbers(const mpc::ArithShare& one_hot);

}  // namespace trefoil::protocols

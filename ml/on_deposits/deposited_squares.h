#pragma once
#include <cstdint>
#include <vector>

#include "ml/clear/least_squares.h"
#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/share.h"

/// Least squares of rows that all three parties hold on shares (columns as ml/batches/deposited_rows.h).
namespace trefoil::ml {

/// What the labels of such rows are.
enum class DepositedLabels { kClasses, kTargets };

/// How rows at f fraction bits, whose norm has a bound, become rows of a shape. They are not divided by that
/// bound: they are multiplied by `factor`, and then of norm N = steps 2^f at most.
struct DepositedScale {
  int fraction_bits = 16;
  mpc::Word factor = 1;
  std::uint64_t steps = 1;

  [[nodiscard]] std::uint64_t unit() const { return steps << fraction_bits; }
  /// The row_norm by which SolveSquares knows these rows.
  [[nodiscard]] double row_norm() const { return static_cast<double>(steps) / static_cast<double>(factor); }
};

/// The least factor by which N is within an eighth of the bound, so that noise is as well.
/// `largest_squared_norm`: of the rows in their own units. Pre: it is from 1 to 2^62; 1 to 30 fraction bits.
[[nodiscard]] DepositedScale ScaleOfDeposited(std::uint64_t largest_squared_norm, int fraction_bits);

/// A sum as SumOfSquares makes it, numbers() x 1, as a 3-of-3 sharing, over all records of `deposited`;
/// padding adds nothing. With two classes a target is 1 or -1, with more a 1 in its class's place, of a range
/// from -1 to 1, to the nearest of 2^-f of its width. Nothing opens. Exact modulo 2^64.
///
/// Pre:    rows that FaultyRows (protocols/comparison/row_check.h) finds no fault with, by the bound that
///         `scale` was made of: so a record adds no more than SquaresSensitivity(unit), whoever made it.
///         shape.unit is scale.unit().
/// Cost:   SumOfDepositedSquaresCost: of classes none; of targets RoundTargets of all at once. 3 p^2
///         multiplications of words a row; each matrix is released once it is multiplied.
/// Throws: ContractError on the shape, before anything is sent; NetworkError, ProtocolError.
/// Source: local products of replicated shares: Araki et al., CCS 2016, section 3.
[[nodiscard]] mpc::AdditiveShare SumOfDepositedSquares(mpc::Context& party, const SquaresShape& shape,
                                                       const DepositedScale& scale, DepositedLabels labels,
                                                       std::vector<mpc::ArithShare> deposited);
/// Of so many rows in all.
[[nodiscard]] mpc::Cost SumOfDepositedSquaresCost(const DepositedScale& scale, DepositedLabels labels,
                                                  mpc::Index rows);

}  // namespace trefoil::ml

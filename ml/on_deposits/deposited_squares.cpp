#include "ml/on_deposits/deposited_squares.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "ml/batches/deposited_rows.h"
#include "ml/records.h"
#include "protocols/arithmetic/multiply.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::Word;

/// Labels of all rows, one matrix below the other, in units of N.
ArithShare TargetsOf(mpc::Context& party, const SquaresShape& shape, const DepositedScale& scale,
                     DepositedLabels kind, const std::vector<ArithShare>& deposited) {
  const std::span<const ArithShare> all(deposited);
  const ArithShare mask = StackedColumns(all, shape.features, 1);
  const ArithShare labels = StackedColumns(all, shape.features + 1, shape.outputs);
  if (kind == DepositedLabels::kTargets) {
    const ArithShare steps = RoundTargets(party, labels, mask, scale.fraction_bits);
    return scale.steps * (Word{2} * steps - (Word{1} << scale.fraction_bits) * mask);
  }
  return shape.outputs == 1 ? shape.unit * (Word{2} * labels - mask) : shape.unit * labels;
}

}  // namespace

DepositedScale ScaleOfDeposited(std::uint64_t largest_squared_norm, int fraction_bits) {
  Require(largest_squared_norm >= 1 && largest_squared_norm <= std::uint64_t{1} << 62 && fraction_bits >= 1 &&
              fraction_bits <= 30,
          "ScaleOfDeposited: a squared norm from 1 to 2^62, and 1 to 30 fraction bits");
  const auto norm = LargestNorm(largest_squared_norm);
  DepositedScale scale{.fraction_bits = fraction_bits};
  const std::uint64_t step = std::uint64_t{1} << fraction_bits;
  // Below this one step alone is too long.
  scale.factor = std::max<std::uint64_t>(1, 8 * step / (9 * norm));
  for (;; ++scale.factor) {
    scale.steps = (scale.factor * norm + step - 1) / step;
    if (8 * scale.unit() <= 9 * scale.factor * norm) return scale;
  }
}

mpc::AdditiveShare SumOfDepositedSquares(mpc::Context& party, const SquaresShape& shape,
                                         const DepositedScale& scale, DepositedLabels labels,
                                         std::vector<ArithShare> deposited) {
  Require(shape.unit == scale.unit(), "SumOfDepositedSquares: the unit of the scale");
  for (const auto& rows : deposited)
    Require(rows.cols() == shape.features + 1 + shape.outputs,
            "SumOfDepositedSquares: features, a mask bit and a label");
  mpc::AdditiveShare sum(mpc::RingMatrix::Zero(shape.numbers(), 1));
  if (deposited.empty()) return sum;
  const ArithShare targets = TargetsOf(party, shape, scale, labels, deposited);
  Index first = 0;
  for (ArithShare& of_owner : deposited) {
    const ArithShare rows = std::exchange(of_owner, {});
    // With the constant of a record, which padding has not.
    const ArithShare entries = SideBySide(scale.factor * Columns(rows, 0, shape.features),
                                          (shape.unit / 2) * Columns(rows, shape.features, 1));
    const auto products = protocols::LocalTransposedProduct(
        party, entries, SideBySide(entries, mpc::Rows(targets, first, rows.rows())));
    sum = sum + mpc::AdditiveShare(SumOfProducts(shape, products.part()));  // linear, by public factors
    first += rows.rows();
  }
  return sum;
}

mpc::Cost SumOfDepositedSquaresCost(const DepositedScale& scale, DepositedLabels labels, Index rows) {
  return labels == DepositedLabels::kTargets ? RoundTargetsCost(rows, scale.fraction_bits) : mpc::Cost();
}

}  // namespace trefoil::ml

#include "ml/on_shares/score_histogram.h"

#include <cmath>

#include "mpc/share.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

/// Looks up 1 in the bin of a logit, and 0 in the others.
protocols::PiecewisePolynomial BinsOf(const StepPlan& plan) {
  const std::int64_t bins = plan.settings.evaluation->bins;
  protocols::PiecewisePolynomial table;
  for (std::int64_t k = 0; k < bins; ++k) {
    auto& one_hot = table.coefficients.emplace_back(static_cast<std::size_t>(bins), 0);
    one_hot[static_cast<std::size_t>(k)] = 1;
    if (k == 0) continue;
    const double edge = LogitAt(plan.settings.loss, static_cast<double>(k) / static_cast<double>(bins));
    // A record is taken for class 1 above the threshold, not at it.
    table.thresholds.push_back(std::llround(std::ldexp(edge, 2 * plan.settings.fraction_bits)) + 1);
  }
  return table;
}

}  // namespace

AdditiveShare ScoreHistogram(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                             const AdditiveShare& logits) {
  const Index rows = logits.rows();
  const Index bins = plan.settings.evaluation->bins;
  const ArithShare mask = Columns(batch.x.ring(), batch.x.cols() - 1, 1);
  const ArithShare in_bin = LookUp(party, BinsOf(plan), protocols::Reshare(party, logits));
  const ArithShare by_column = Reshaped(in_bin, bins * rows, logits.cols());
  RingMatrix counts(0, 1);
  for (Index column = 0; column < logits.cols(); ++column) {
    const ArithShare of_column = Reshaped(Columns(by_column, column, 1), bins, rows);
    const ArithShare yes = Columns(batch.y.ring(), column, 1);
    counts = mpc::Stacked(counts, protocols::LocalMatrixProduct(party, of_column, mask - yes).part());
    counts = mpc::Stacked(counts, protocols::LocalMatrixProduct(party, of_column, yes).part());
  }
  return AdditiveShare(counts);
}

mpc::Cost ScoreHistogramCost(const StepPlan& plan, Index rows) {
  const Index logits = rows * plan.columns;
  return Then(protocols::ReshareCost(logits), LookUpCost(BinsOf(plan), logits));
}

}  // namespace trefoil::ml

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

/// Whether bins are of probabilities, and not of the logits that stand for them: one of softmax depends on
/// all of a row.
bool AreOfProbabilities(const StepPlan& plan) { return plan.activation.softmax.has_value(); }

/// Where predictions above this one begin, as the bins' scores are scaled.
std::int64_t EdgeAt(const StepPlan& plan, double prediction) {
  const int bits = plan.settings.fraction_bits;
  const double edge = AreOfProbabilities(plan)
                          ? std::ldexp(prediction, bits)
                          : std::ldexp(LogitAt(plan.settings.loss, prediction), 2 * bits);
  // A record is taken for class 1 above the threshold, not at it.
  return std::llround(edge) + 1;
}

/// Looks up 1 in the bin of a score, and 0 in the others.
protocols::PiecewisePolynomial BinsOf(const StepPlan& plan) {
  const std::int64_t bins = plan.settings.evaluation->bins;
  protocols::PiecewisePolynomial table;
  for (std::int64_t k = 0; k < bins; ++k) {
    auto& one_hot = table.coefficients.emplace_back(static_cast<std::size_t>(bins), 0);
    one_hot[static_cast<std::size_t>(k)] = 1;
    if (k == 0) continue;
    table.thresholds.push_back(EdgeAt(plan, static_cast<double>(k) / static_cast<double>(bins)));
  }
  return table;
}

ArithShare ScoresOf(mpc::Context& party, const StepPlan& plan, const AdditiveShare& logits) {
  if (AreOfProbabilities(plan)) return Predict(party, WithWholeRows(plan).activation, logits).ring();
  return protocols::Reshare(party, logits);
}

}  // namespace

AdditiveShare ScoreHistogram(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                             const AdditiveShare& logits) {
  const Index rows = logits.rows();
  const Index bins = plan.settings.evaluation->bins;
  const ArithShare mask = Columns(WholeRows(batch).ring(), batch.x.cols() - 1, 1);
  const ArithShare in_bin = LookUp(party, BinsOf(plan), ScoresOf(party, plan, logits));
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
  const mpc::Cost scores = AreOfProbabilities(plan) ? PredictCost(WithWholeRows(plan).activation, rows)
                                                    : protocols::ReshareCost(logits);
  return Then(scores, LookUpCost(BinsOf(plan), logits));
}

}  // namespace trefoil::ml

#pragma once
#include "ml/dpsgd/dp_sgd.h"
#include "mpc/cost.h"

namespace trefoil::ml {

/// How many rows of `batch` have which class and which prediction, in units of 2^-f, exactly: 2 bins x 1, 3-of-3. First
/// the bins of class 0, then those of class 1; bin k has predictions above k / bins, up to (k + 1) / bins, the first and
/// the last also all beyond. `logits` is N x 1 at 2f bits. A padding row counts for none. Nothing is opened.
/// Pre:    plan.settings.evaluation with bins; |logits| < 2^62.
/// Cost:   ScoreHistogramCost.
/// Source: docs/reference/protocols.md, "Evaluation, validation and prediction".
[[nodiscard]] mpc::AdditiveShare ScoreHistogram(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                                const mpc::AdditiveShare& logits);
[[nodiscard]] mpc::Cost ScoreHistogramCost(const StepPlan& plan, mpc::Index rows);

}  // namespace trefoil::ml

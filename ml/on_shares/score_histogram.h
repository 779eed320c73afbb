#pragma once
#include "ml/dpsgd/dp_sgd.h"
#include "mpc/cost.h"

namespace trefoil::ml {

/// How many rows of `batch` have which class and which prediction, in units of 2^-f, exactly: 2 bins c x 1,
/// 3-of-3, for logits of N x c at 2f bits. For each column, which tells a class from the others, first the
/// bins of rows that are not of the class, then those of rows that are; a single column is of class 1. Bin k
/// has predictions above k / bins, up to (k + 1) / bins, the first and the last also all beyond. Of softmax a
/// prediction is the probability on shares, so that a record as near to an edge as
/// plan.activation.softmax->error may be in either bin. A padding row counts for none. Nothing is opened.
/// Pre:    plan.settings.evaluation with bins; |logits| < 2^62.
/// Cost:   ScoreHistogramCost.
/// Source: docs/reference/protocols.md, "Evaluation, validation and prediction".
[[nodiscard]] mpc::AdditiveShare ScoreHistogram(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                                const mpc::AdditiveShare& logits);
[[nodiscard]] mpc::Cost ScoreHistogramCost(const StepPlan& plan, mpc::Index rows);

}  // namespace trefoil::ml

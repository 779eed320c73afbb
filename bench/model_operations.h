#pragma once
#include "bench/operations.h"
#include "ml/plan/step_plan.h"

namespace trefoil::bench {

/// What predictions open.
enum class PredictionOutput { kClasses, kScores };

/// A linear model for one block of shape.rows records, as evaluations and predictions take it. Throws:
/// ConfigError on a shape of two classes.
[[nodiscard]] ml::StepPlan EvaluationPlanFor(const ProductShape& shape);

/// Counts on shares how many of party 0's records a shared linear model classifies correctly, and opens the
/// count to all (shape: records x features x classes).
[[nodiscard]] Prepared PrepareEvaluation(mpc::Context& party, const Point& point);

/// Classifies as many rows of party 0, for party 0.
[[nodiscard]] Prepared PreparePrediction(mpc::Context& party, const Point& point, PredictionOutput output);

}  // namespace trefoil::bench

#pragma once
#include "bench/operations.h"
#include "bench/random_job.h"
#include "ml/plan/step_plan.h"
#include "protocols/form.h"

namespace trefoil::bench {

/// The plan of such a step on a batch of shape.rows. Throws: ConfigError on a shape of two classes.
[[nodiscard]] ml::StepPlan StepPlanFor(const ProductShape& shape, const StepKind& kind, protocols::Form form);

/// One DP-SGD step on shared X and Y (shape: batch x features x classes), noise included.
[[nodiscard]] Prepared PrepareStep(mpc::Context& party, const Point& point, const StepKind& kind,
                                   protocols::Form form);

}  // namespace trefoil::bench

#pragma once
#include "ml/plan/step_plan.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

struct Batch;

/// Lines 5 to 12 of PEA's Protocol 3 as published: per-example gradients are materialised, their norms
/// inverted by Protocol 1, compared, clipped and selected. B (p + 1) c elements: the oracle of the factorised
/// form, and a baseline. Result: B x (p + 1) c at f bits, a row an example's gradient (row by row).
/// Cost: SumPublishedGradientsCost.
[[nodiscard]] mpc::ArithShare ClipPublishedGradients(mpc::Context& party, const StepPlan& plan,
                                                     const Batch& batch, const mpc::FixedShare& errors);

/// The same, then line 13, the sum of the examples (local): (p + 1) x c at f bits.
[[nodiscard]] mpc::ArithShare SumPublishedGradients(mpc::Context& party, const StepPlan& plan,
                                                    const Batch& batch, const mpc::FixedShare& errors);
[[nodiscard]] mpc::Cost SumPublishedGradientsCost(const StepPlan& plan, mpc::Index batch_rows);

}  // namespace trefoil::ml

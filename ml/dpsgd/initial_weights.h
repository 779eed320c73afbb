#pragma once
#include "base/secrets/random.h"
#include "ml/plan/step_plan.h"
#include "mpc/ring.h"

namespace trefoil::ml {

/// No initial weight is larger.
inline constexpr double kLargestInitialWeight = 2.5;

/// What a network starts from (zero weights would not train), of ShapeOfWeights: each layer uniform in
/// +- sqrt(6 / n), biases zero, where n is the number of inputs or, in the first layer, the bound R^2 + 1 on
/// their squared norm where that is less: rows of norm R stand for unit entries then. Public: from a seed
/// that all parties know, by integers and IEEE square roots, the same at all three. Zero for a linear model.
/// Source: He et al., ICCV 2015, section 2.2 (variance 2 / n).
[[nodiscard]] mpc::RingMatrix InitialWeights(const StepPlan& plan, RandomStream& coins);

}  // namespace trefoil::ml

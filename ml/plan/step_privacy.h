#pragma once
#include <cstdint>
#include <vector>

#include "dp/mechanisms/discrete_gaussian.h"
#include "dp/record/record.h"
#include "ml/plan/step_plan.h"

namespace trefoil::ml {

/// Rounded up to a multiple of 2^-20, so that variances are integers.
[[nodiscard]] double OnSigmaLattice(double sigma);

/// sigma^2 sensitivity^2 / 2^halvings, rounded up, for a sigma of OnSigmaLattice.
[[nodiscard]] dp::Uint256 NoiseVariance(double sigma, std::uint64_t sensitivity, unsigned halvings);

/// The variance that each party adds, sigma^2 Delta^2 / 2 on the gradient's lattice, rounded up.
[[nodiscard]] dp::Uint256 NoiseVariance(const StepPlan& plan, double sigma);

/// What is charged for `steps` steps at noise multiplier `sigma`.
[[nodiscard]] dp::DpSgdSteps EventOf(const StepPlan& plan, double sigma, std::int64_t steps,
                                     std::int64_t max_participation);

/// The noise multiplier of the settings: as given, or the smallest that meets the target, on a lattice of
/// 2^-20 upwards. `before` is what was executed before the steps and counts towards the target too; throws
/// ConfigError where it leaves nothing of it.
[[nodiscard]] double ChooseSigma(const StepPlan& plan, std::int64_t max_participation,
                                 const std::vector<dp::RecordedEvent>& before = {});

}  // namespace trefoil::ml

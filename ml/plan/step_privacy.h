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

/// The noise multiplier of the gradient sum where a step's releases together have `sigma`: that itself, or,
/// with an adaptive clip, of whose counts c is the multiplier, 1/sqrt(1/sigma^2 - 1/c^2), rounded up to a
/// multiple of 2^-20; 0 of 0. Never more than kMostOfGradient times sigma, and so enough where ChooseSigma
/// gave the sigma.
[[nodiscard]] double GradientSigma(const TrainingSettings& settings, double sigma);

/// The variance that each party adds to the gradient sum, GradientSigma^2 Delta^2 / 2 on its lattice, rounded
/// up.
[[nodiscard]] dp::Uint256 NoiseVariance(const StepPlan& plan, double sigma);

/// What a record changes of an adaptive clip's count at most, in the count's units (ClippedSums::within in
/// ml/dpsgd/adaptive_clip.h).
[[nodiscard]] std::uint64_t ClipCountSensitivity(const TrainingSettings& settings);
/// The variance that each party adds to such a count, in these units, rounded up.
[[nodiscard]] dp::Uint256 ClipCountVariance(const TrainingSettings& settings);

/// What is charged for `steps` steps at noise multiplier `sigma`.
[[nodiscard]] dp::DpSgdSteps EventOf(const StepPlan& plan, double sigma, std::int64_t steps,
                                     std::int64_t max_participation);

/// The noise multiplier of the settings: as given, or the smallest that meets the target, on a lattice of
/// 2^-20 upwards, which settings.calibrated_sigma already is where it is there. `before` is what was executed
/// before the steps and counts towards the target too; throws ConfigError where it leaves nothing of it.
/// Pre: calibrated_sigma meets the target.
[[nodiscard]] double ChooseSigma(const StepPlan& plan, std::int64_t max_participation,
                                 const std::vector<dp::RecordedEvent>& before = {});

}  // namespace trefoil::ml

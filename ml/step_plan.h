#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "dp/discrete_gaussian.h"
#include "dp/record.h"
#include "dp/sensitivity.h"
#include "ml/activation.h"
#include "ml/training.h"
#include "protocols/clip_factor.h"

namespace trefoil::ml {

/// A learning rate over the expected batch as mantissa * 2^-exponent.
struct StepSize {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

/// Every constant of a DP-SGD step that all parties must have alike, derived from the settings alone.
struct StepPlan {
  TrainingSettings settings;
  Activation activation;
  dp::LinearContribution example;
  int columns = 1;                        ///< c: one for two classes
  int row_norm_bits = 0;                  ///< g: fraction bits of ||row||^2
  int gradient_bits = 0;                  ///< fraction bits of the gradient sum
  protocols::ClipTable clip;              ///< factorised clipping
  double sensitivity = 0;                 ///< Delta in the units of the clip
  std::uint64_t lattice_sensitivity = 0;  ///< Delta on the gradient's lattice, rounded up
  StepSize step_size;
  int update_shift = 0;         ///< from the gradient's lattice times the mantissa to the weights'
  std::int64_t batch_rows = 0;  ///< rows of the batch matrix, padding included (owner-poisson)
};

/// Derives the constants and runs the range analysis. `form` decides how clip factors compare; it changes no
/// privacy figure. Throws ConfigError naming the key where a range reaches 2^62 or a value is out of its
/// domain.
[[nodiscard]] StepPlan MakeStepPlan(const TrainingSettings& settings,
                                    protocols::Form form = protocols::Form::kBulk);

/// The probability with which a step takes a row.
[[nodiscard]] double SamplingRate(const TrainingSettings& settings);

/// The most rows that each owner can have in a step's batch, padding included: with owner-poisson sampling
/// the height of its part.
[[nodiscard]] std::array<std::int64_t, 3> BatchLimits(const TrainingSettings& settings);

/// The variance that each party adds, sigma^2 Delta^2 / 2 on the gradient's lattice, rounded up.
[[nodiscard]] dp::Uint256 NoiseVariance(const StepPlan& plan, double sigma);

/// What is charged for `steps` steps at noise multiplier `sigma`.
[[nodiscard]] dp::DpSgdSteps EventOf(const StepPlan& plan, double sigma, std::int64_t steps,
                                     std::int64_t max_participation);

/// The noise multiplier of the settings: as given, or the smallest that meets the target, on a lattice of
/// 2^-20 upwards.
[[nodiscard]] double ChooseSigma(const StepPlan& plan, std::int64_t max_participation);

/// Where the noise is calibrated to a target: refuses noise whose epsilon against the adversary that the
/// target is not about would be infinite, only because cut batches eat the delta. Throws ConfigError naming
/// the limit that suffices.
void RequireDeltaForBoth(const StepPlan& plan, double sigma, std::int64_t max_participation);

/// All constants as text, for the parties to compare.
[[nodiscard]] std::string Fingerprint(const StepPlan& plan, double sigma);

}  // namespace trefoil::ml

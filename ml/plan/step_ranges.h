#pragma once
#include "ml/plan/step_plan.h"

namespace trefoil::ml {

/// The range analysis of a step: what keeps every intermediate below 2^62. All throw ConfigError naming the
/// intermediate and a remedy.

inline constexpr int kRangeBits = 62;

/// For a range analysis before sigma is known: noise beyond this multiplier would drown any model.
inline constexpr double kLargestSigma = 1000;

/// g = min(f, what keeps the squared gradient norm below 2^62); docs/explanation/privacy.md, "Sensitivity".
[[nodiscard]] int RowNormBits(const dp::LinearContribution& example);

/// Fraction bits of weights of at most `largest`, of classes or of records: up to 16, such that an error, of norm
/// `error_norm` at most, times a label times a weight stays below 2^62. `key` is what gives the weights, for the error.
[[nodiscard]] int WeightBits(double largest, double error_norm, int fraction_bits, const char* key);

/// The scale of a network's squared norms: at most f, such that the squared gradient norm, a product of two,
/// stays below 2^62; and so do the squared norms before they are truncated to it.
[[nodiscard]] int NetworkNormBits(const StepPlan& plan);

/// The largest absolute value of the noisy gradient sum on its lattice.
[[nodiscard]] double GradientRange(const StepPlan& plan, double sigma);

/// How much larger than the updates of single steps the velocity can get: 1 / (1 - momentum).
[[nodiscard]] double VelocityGain(const TrainingSettings& settings);

/// eta / b of the first step as a mantissa of as many bits as the range leaves.
[[nodiscard]] StepSize ChooseStepSize(const StepPlan& plan, double sigma);

/// From the gradient's lattice times the mantissa to the weights'.
[[nodiscard]] int UpdateShift(const StepPlan& plan, const StepSize& step_size);

/// That what is truncated to the velocity stays in range at `sigma`: the noisy gradient times the mantissa,
/// and the velocity before times the momentum.
void CheckUpdateRange(const StepPlan& plan, double sigma);

/// The truncations of logits and, in a network, of every layer's product need |Z| < 2^62 where Z is not taken
/// modulo a period, and so do comparisons of logits where records are classified on shares: the weights grow
/// by at most the largest update a step. For utility alone.
void CheckLogitRange(const StepPlan& plan, double sigma);

/// C times the inverse square root of the smallest norm, before its truncation.
void CheckPublishedRange(const TrainingSettings& settings);

}  // namespace trefoil::ml

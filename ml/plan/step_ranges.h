#pragma once
#include "ml/plan/step_plan.h"

namespace trefoil::ml {

/// The range analysis of a step: what keeps every intermediate below 2^62. All throw ConfigError naming the
/// intermediate and a remedy.

inline constexpr int kRangeBits = 62;

/// For a range analysis before sigma is known: noise beyond this multiplier would drown any model.
inline constexpr double kLargestSigma = 1000;

/// What is taken for it before it is calibrated where the step size is chosen: few jobs have more.
inline constexpr double kExpectedSigma = 10;

/// With an adaptive clip: how much more noise than the multiplier says the gradient has at most, as the
/// counts have the rest (GradientSigma). That is half of what a step tells for either.
inline constexpr double kMostOfGradient = 1.4142135623730951;

/// A multiplier that calibration does not exceed, but for settings that leave next to nothing of epsilon to
/// the steps: four times that of the steps as one release by the Gaussian mechanism's classical formula, 10
/// to 1000. With public sampling of as many steps as a record is in at most. That of the settings where they
/// give one or have a calibrated one.
[[nodiscard]] double SigmaAbove(const TrainingSettings& settings);

/// g = min(f, what keeps the squared gradient norm below 2^62); docs/explanation/privacy.md, "Sensitivity".
[[nodiscard]] int RowNormBits(const dp::LinearContribution& example);

/// Fraction bits of weights of at most `largest`, of classes or of records: up to 16, such that an error, of
/// norm `error_norm` at most, times a label times a weight stays below 2^62. `key` is what gives the weights,
/// for the error.
[[nodiscard]] int WeightBits(double largest, double error_norm, int fraction_bits, const char* key);

/// The scale of a network's squared norms: at most f, such that the squared gradient norm, a product of two,
/// stays below 2^62; and so do the squared norms before they are truncated to it.
[[nodiscard]] int NetworkNormBits(const StepPlan& plan);

/// The largest absolute value of the noisy gradient sum on its lattice.
[[nodiscard]] double GradientRange(const StepPlan& plan, double sigma);

/// How much larger than the updates of single steps the velocity can get: 1 / (1 - momentum).
[[nodiscard]] double VelocityGain(const TrainingSettings& settings);

/// eta / b of the first step, and of an adaptive clip's largest, as a mantissa of as many bits as the range
/// leaves.
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

/// Whether rows that are shared once stay whole until settings.calibrated_sigma is known: where it is
/// calibrated to what initialisation, standardisation or balanced classes leave of epsilon, or would be
/// kLargestSigma or more by SigmaAbove(), so that no job is refused for want of bits that whole rows have.
[[nodiscard]] bool NeedsCalibratedSigma(const TrainingSettings& settings);

/// The least multiple of 8, k, such that a step's rows may be shared modulo 2^k; 64 where they are to be
/// whole, or would have to be. With P the sigmoid's period, Z the logits or what goes up a network's first
/// layer, G the noisy gradient sum, d the update's shift, and G opened in w bits, k of a linear model:
///   what a linear model's sigmoid takes of Z:  s_x + f + log2 P <= k; elsewhere |Z| < 2^(k - 2), for utility
///   alone;
///   what the update takes of G:   |G| < 2^(w - 2), d <= w - 2, w <= k + RowShift(), and the learning rate's
///   mantissa below 2^(64 - w): the first step's, as a rate only falls;
///   with an adaptive clip, whose update lifts G to words first, in place of the last two |n| < 2^(k - 1), n
///   the noisy count of records.
/// G is below GradientRange at `sigma`; beyond, the sum wraps, which is post-processing of what is released.
/// Whole are rows that were deposited or are put together of columns, and those of published clipping.
/// So are those that save a run no more bytes than its updates would take more, by momentum or an adaptive clip,
/// and those that are shared once (public and full sampling) where NeedsCalibratedSigma().
[[nodiscard]] int RowBits(const StepPlan& plan, double sigma);

/// w, behind the plan's row_bits: a network's is the least multiple of 8, whatever what goes up a layer takes.
[[nodiscard]] int UpdateBits(const StepPlan& plan, double sigma);

/// That the plan's rows and updates have as many. Throws ConfigError where sigma is larger than SigmaAbove().
void CheckRowBits(const StepPlan& plan, double sigma);

/// C times the inverse square root of the smallest norm, before its truncation.
void CheckPublishedRange(const TrainingSettings& settings);

}  // namespace trefoil::ml

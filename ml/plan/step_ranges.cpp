#include "ml/plan/step_ranges.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "ml/clear/local_training.h"
#include "ml/dpsgd/initial_weights.h"
#include "ml/plan/public_sampling.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

constexpr int kMantissaBits = 12;
constexpr int kMinMantissaBits = 6;
constexpr int kMaxWeightBits = 16;
constexpr int kMinWeightBits = 8;
constexpr int kMinNormBits = 8;    // of a network's squared norms
constexpr int kMomentumBits = 10;  // that a momentum has at least
constexpr int kWordBits = 64;
// Sent of what is opened of a product, and of a clipped error that is dealt and re-shared.
constexpr int kWords = 4;
constexpr double kNoiseTail = 40;  // deviations that noise is taken to stay within

constexpr const char* kGradientRemedy =
    "fraction_bits, training.max_batch_per_owner or training.learning_rate";

/// The same keys and `more`, for a range that the clip takes part in.
std::string RemedyWithClip(const TrainingSettings& settings, const char* more = "") {
  std::string keys = "fraction_bits, training.max_batch_per_owner, training.learning_rate";
  keys += more;
  if (settings.clipping != Clipping::kExamples)
    keys += settings.adaptive ? ", privacy.first_clip" : ", privacy.clip";
  return keys.replace(keys.rfind(", "), 2, " or ");
}

[[noreturn]] void RangeError(const char* what, const std::string& remedy = kGradientRemedy) {
  std::ostringstream text;
  text << what << " can reach 2^62 with these settings; lower " << remedy;
  throw ConfigError(text.str());
}

/// The fewest bits n with x < 2^n.
int BitsAbove(double x) { return std::ilogb(x) + 1; }

/// GradientRange() of a sum of so many rows.
double RangeOfRows(const StepPlan& plan, std::int64_t rows, double sigma) {
  const double contributions = static_cast<double>(rows) * plan.row_sensitivity;
  const double of_gradient = plan.settings.adaptive ? kMostOfGradient * sigma : sigma;
  const double noise = kNoiseTail * 3 * of_gradient * plan.sensitivity;
  return std::ldexp(contributions + noise, plan.gradient_bits);
}

/// How large a weight can get without where it began: weights grow by at most the largest update a step.
double WeightRange(const StepPlan& plan, double sigma) {
  const double update = GradientRange(plan, sigma) * static_cast<double>(plan.step_size.mantissa) *
                        std::ldexp(1.0, -plan.step_size.exponent - plan.gradient_bits);
  return update * VelocityGain(plan.settings) * plan.settings.steps;
}

/// How large a product of a row can get: a logit, or what goes up a network's first layer.
double RowProductRange(const StepPlan& plan, double sigma) {
  const double row = dp::RowBound(plan.example) * std::sqrt(static_cast<double>(plan.settings.features + 1));
  if (IsNetwork(plan)) return row * (WeightRange(plan, sigma) + kLargestInitialWeight);
  return row * WeightRange(plan, sigma) + (plan.settings.initialisation ? 2 * kLargestLocalLogit : 0);
}

/// How large a logit can get, or in a network what goes up or down a layer.
double LogitRange(const StepPlan& plan, double sigma) {
  double product = RowProductRange(plan, sigma);
  for (std::size_t layer = 0; layer < plan.network.size(); ++layer) {
    const dp::LayerContribution& of = plan.network[layer];
    const double up = of.input_norm * std::sqrt(static_cast<double>(plan.layers[layer].inputs));
    const double down = of.delta_norm * std::sqrt(static_cast<double>(plan.layers[layer].outputs));
    product = std::max(product, std::max(up, down) * (WeightRange(plan, sigma) + kLargestInitialWeight));
  }
  return product;
}

/// The bits that products of a step's rows with weights are opened in.
int BitsOfRowProducts(const StepPlan& plan, double sigma) {
  const int product_bits = RowFractionBits(plan.settings) + plan.settings.fraction_bits;
  const auto* series = plan.activation.series;
  if (series != nullptr && !IsNetwork(plan)) return product_bits + series->log2_period;
  return BitsAbove(std::ldexp(RowProductRange(plan, sigma), product_bits)) + 2;
}

/// The bits that the count of an adaptive clip is opened in, with its sign.
int BitsOfClipCount(const StepPlan& plan) {
  const auto rows = static_cast<double>(plan.batch_rows);
  const double noise = kNoiseTail * 3 * ClipCountMultiplier(plan.settings);
  return BitsAbove(std::ldexp(rows + noise, RowFractionBits(plan.settings))) + 1;
}

/// The bits that the noisy gradient sum is opened in; with an adaptive clip, whose sum is lifted before it is
/// shifted, and the count of records beside it.
int BitsOfGradient(const StepPlan& plan, double sigma) {
  const int of_update = plan.settings.adaptive ? BitsOfClipCount(plan) : plan.update_shift + 2;
  return std::max(BitsAbove(GradientRange(plan, sigma)) + 2, of_update);
}

int WholeBytes(int bits) { return (bits + 7) / 8 * 8; }

/// How many bits of a weight a step's update sends more where sums of `of_sums` bits are lifted, or the velocity
/// is truncated by itself beside them.
int BitsOfWeight(const StepPlan& plan, int of_sums) {
  if (LiftsNarrowUpdate(plan)) return kWords * of_sums;
  constexpr int kWordsOfMomentum = 6;
  return kWordsOfMomentum * kWordBits - kWords * (kWordBits - of_sums);
}

/// Whether rows of so many bits, and sums of `of_sums`, save a run more bytes than its updates take more then, in
/// all steps. Where neither momentum nor an adaptive clip has them take more, rows save more than the word that
/// each has for its mask bit behind one column.
bool SaveMoreThanTheUpdateTakes(const StepPlan& plan, int bits, int of_sums) {
  const TrainingSettings& s = plan.settings;
  if (plan.momentum_factor == 0 && !LiftsNarrowUpdate(plan)) return true;
  const bool afresh = s.sampling == Sampling::kOwnerPoisson;
  mpc::Index errors = 0;
  for (const LayerShape& layer : plan.layers) errors += layer.outputs;
  const auto in_step = static_cast<double>(plan.batch_rows);
  const double sent = afresh ? in_step : static_cast<double>(LargestBatch(s)) / s.steps;
  const auto of_row =
      (s.features + 1) * (kWordBits - bits) - (IsNetwork(plan) && plan.columns == 1 ? kWordBits : 0);
  const auto opened = IsNetwork(plan) ? kWords * plan.layers.front().outputs * (kWordBits - bits) : 0;
  const auto clipped = s.clipping == Clipping::kFactorised ? kWords * errors * (kWordBits - of_sums) : 0;
  return sent * static_cast<double>(of_row) + in_step * static_cast<double>(opened + clipped) >
         static_cast<double>(BitsOfWeight(plan, of_sums) * ShapeOfWeights(plan).weights());
}

/// Whether nobody inputs rows as a whole, or more is done with them than the two products.
bool HasRowsInWords(const TrainingSettings& s) {
  return s.deposited || s.vertical || s.clipping == Clipping::kPublished;
}

/// Whether the velocity stays in range where what goes into it is rounded in so many parts.
bool UpdateFits(const StepPlan& plan, double sigma, int roundings) {
  // A velocity is rounded, by less than a unit of the weights, before it enters the next.
  const double rounding = plan.settings.momentum > 0 ? std::ldexp(roundings, plan.update_shift) : 0;
  const double update = GradientRange(plan, sigma) * static_cast<double>(plan.step_size.mantissa);
  return (update + rounding) * VelocityGain(plan.settings) < std::ldexp(1.0, kRangeBits);
}

/// `without_noise`: whether the records' gradients alone would fit.
[[noreturn]] void NoisyGradientError(double sigma, bool without_noise, const std::string& remedy) {
  if (without_noise) {
    std::ostringstream text;
    text << "the noise of sigma " << sigma
         << " has no room in the ring with these settings: raise privacy.epsilon or lower privacy.sigma, "
            "else lower "
         << remedy;
    throw ConfigError(text.str());
  }
  RangeError("the noisy gradient times the learning rate", remedy);
}

/// Refuses a learning rate that is not from expected_batch 2^from to below expected_batch 2^to.
[[noreturn]] void RateError(const TrainingSettings& settings, int from, int to) {
  std::string keys = "training.expected_batch";
  if (settings.row_fraction_bits) keys += ", features.fraction_bits";
  if (settings.error_fraction_bits) keys += ", training.error_fraction_bits";
  if (settings.momentum > 0) keys += ", training.momentum";
  if (const auto last = keys.rfind(", "); last != std::string::npos) keys.replace(last, 2, " and ");
  std::ostringstream text;
  text << "training.learning_rate: found " << settings.learning_rate << ", expected at least "
       << DigitsAbove(std::ldexp(settings.expected_batch, from), 6) << " and below "
       << DigitsBelow(std::ldexp(settings.expected_batch, to), 6) << " with this " << keys;
  throw ConfigError(text.str());
}

}  // namespace

int RowNormBits(const dp::LinearContribution& example) {
  const int f = example.frac_bits;
  // By itself, too: weights may make errors so small that the gradient's norm says nothing of the row's.
  const double row = std::ldexp(dp::RowBound(example), f);
  if (row * row >= std::ldexp(1.0, kRangeBits - 1))
    RangeError("a squared norm of a row", "fraction_bits or features.row_norm");
  const double squared = dp::SquaredGradientBound(example, 1);
  const int most = kRangeBits - 1 - 2 * f - CeilLog2(squared);
  if (most < 0) RangeError("a squared gradient norm");
  return std::min(f, most);
}

int WeightBits(double largest, double error_norm, int fraction_bits, const char* key) {
  // Two bits for rounding up: even a weight that is a quarter of a unit would become no more than one.
  const int most = kRangeBits - 2 - 2 * fraction_bits - CeilLog2(largest * error_norm);
  if (most < kMinWeightBits) RangeError("an error times its weight", std::string(key) + " or fraction_bits");
  return std::min(most, kMaxWeightBits);
}

int NetworkNormBits(const StepPlan& plan) {
  const char* const remedy =
      "fraction_bits, model.hidden, model.activation_bound, model.delta_bound or features.row_norm";
  const double limit = std::ldexp(1.0, kRangeBits - 1);
  for (const dp::LayerContribution& layer : plan.network) {
    const double norm = std::max(layer.input_norm, layer.delta_norm);
    if (std::ldexp(norm * norm, 2 * plan.settings.fraction_bits) >= limit)
      RangeError("a squared norm of a layer", remedy);
  }
  const double squared = dp::SquaredGradientBound(plan.network, std::ldexp(2.0, -kMinNormBits));
  const int most = (kRangeBits - 1 - CeilLog2(squared)) / 2;
  if (most < kMinNormBits) RangeError("a squared gradient norm", remedy);
  return std::min(plan.settings.fraction_bits, most);
}

double GradientRange(const StepPlan& plan, double sigma) { return RangeOfRows(plan, plan.batch_rows, sigma); }

double VelocityGain(const TrainingSettings& settings) { return 1 / (1 - settings.momentum); }

int UpdateShift(const StepPlan& plan, const StepSize& step_size) {
  return plan.gradient_bits - plan.settings.fraction_bits + step_size.exponent;
}

StepSize ChooseStepSize(const StepPlan& plan, double sigma) {
  // That of the largest clip, and of as many bits more as the smallest one then lacks.
  const int octaves = plan.settings.adaptive ? kClipOctaves : 0;
  const double value = std::ldexp(plan.settings.learning_rate / plan.settings.expected_batch, octaves);
  // Of public batches that of all rows, which leaves room for noise beyond `sigma`.
  const auto free_bits = [&](double noise) {
    const double range = RangeOfRows(plan, LargestBatch(plan.settings), noise);
    return kRangeBits - 1 - CeilLog2(range * VelocityGain(plan.settings));
  };
  const int bits = std::min(kMantissaBits + 2 * octaves, free_bits(sigma));
  const int fewest = kMinMantissaBits + 2 * octaves;
  if (bits < fewest) NoisyGradientError(sigma, free_bits(0) >= fewest, RemedyWithClip(plan.settings));
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [1/2, 1)
  StepSize size{.mantissa = static_cast<std::uint64_t>(std::llround(std::ldexp(fraction, bits))),
                .exponent = bits - exponent};
  const int shift = UpdateShift(plan, size);
  const int min_shift = plan.settings.momentum > 0 ? kMomentumBits : 1;
  if (shift < min_shift || shift > kRangeBits)
    RateError(plan.settings, shift + exponent - octaves - kRangeBits - 1,
              shift + exponent - octaves - min_shift);
  return size;
}

void CheckUpdateRange(const StepPlan& plan, double sigma) {
  // Behind narrow rows its two parts are rounded apart, where they are not lifted.
  const int roundings = HasNarrowRows(plan) && !LiftsUpdate(plan) ? 2 : 1;
  if (!UpdateFits(plan, sigma, roundings))
    NoisyGradientError(sigma, UpdateFits(plan, 0, roundings),
                       RemedyWithClip(plan.settings, ", training.momentum"));
}

void CheckLogitRange(const StepPlan& plan, double sigma) {
  const bool periodic = !IsNetwork(plan) && plan.activation.options.loss == Loss::kOneVsRest;
  if (periodic && !ClassifiesOnShares(plan.settings)) return;
  if (std::ldexp(LogitRange(plan, sigma), 2 * plan.settings.fraction_bits) >= std::ldexp(1.0, kRangeBits))
    RangeError("a logit", RemedyWithClip(plan.settings));
}

double SigmaAbove(const TrainingSettings& settings) {
  if (settings.sigma) return OnSigmaLattice(*settings.sigma);
  if (settings.calibrated_sigma) return *settings.calibrated_sigma;
  const double one_release = std::sqrt(2 * std::log(1.25 / settings.delta)) / settings.target_epsilon;
  // PEA's closed form counts a step of sampled records as one of all; for insiders, who know which records
  // are in a step of public batches, each of a record's steps counts.
  const double rate = SamplingRate(settings);
  double steps = rate * std::sqrt(settings.steps);
  if (settings.accountant == dp::AccountantKind::kPea) {
    steps = std::sqrt(settings.steps);
  } else if (settings.sampling == Sampling::kPublic && settings.against == Adversary::kInsider) {
    const auto most = MaxParticipation(LargestBatch(settings), rate, settings.steps);
    steps = std::sqrt(static_cast<double>(most));
  }
  return std::clamp(4 * steps * one_release, kExpectedSigma, kLargestSigma);
}

bool NeedsCalibratedSigma(const TrainingSettings& settings) {
  if (settings.sigma || settings.calibrated_sigma) return false;
  if (settings.sampling == Sampling::kOwnerPoisson || HasRowsInWords(settings)) return false;
  const bool charged_before = settings.initialisation || settings.standardisation || settings.balance_sigma;
  return charged_before || SigmaAbove(settings) >= kLargestSigma;
}

int RowBits(const StepPlan& plan, double sigma) {
  const TrainingSettings& s = plan.settings;
  if (HasRowsInWords(s) || NeedsCalibratedSigma(s)) return kWordBits;
  const int of_gradient = WholeBytes(BitsOfGradient(plan, sigma));
  const int bits = WholeBytes(std::max(BitsOfRowProducts(plan, sigma), of_gradient - RowShift(plan)));
  const int opened = IsNetwork(plan) ? of_gradient : bits;
  if (std::max(bits, opened) >= kWordBits) return kWordBits;
  // No later step's mantissa is larger: a rate falls from the first one's.
  const bool fits = s.adaptive || plan.step_size.mantissa < std::uint64_t{1} << (kWordBits - opened);
  // Two roundings of the velocity may have no room where one has; nor may that cost a job anything.
  const bool known = s.sigma || s.calibrated_sigma;  // else `sigma` is one that is not exceeded
  if (known && !LiftsNarrowUpdate(plan) && !UpdateFits(plan, sigma, 2)) return kWordBits;
  return fits && SaveMoreThanTheUpdateTakes(plan, bits, opened) ? bits : kWordBits;
}

int UpdateBits(const StepPlan& plan, double sigma) {
  if (!IsNetwork(plan) || !HasNarrowRows(plan)) return plan.row_bits;
  return WholeBytes(BitsOfGradient(plan, sigma));
}

void CheckRowBits(const StepPlan& plan, double sigma) {
  const bool of_sums = UpdateBits(plan, sigma) > plan.update_bits;  // of networks
  if (!of_sums && RowBits(plan, sigma) <= plan.row_bits) return;
  std::ostringstream text;
  text << "the noise of sigma " << sigma << " has no room in " << (of_sums ? "gradient sums" : "rows")
       << " of " << (of_sums ? plan.update_bits : plan.row_bits) << " bits, which are for a sigma of "
       << SigmaAbove(plan.settings) << ": give privacy.sigma itself";
  throw ConfigError(text.str());
}

void CheckPublishedRange(const TrainingSettings& settings) {
  const double factor =
      settings.clip * std::exp2(2.5 * settings.fraction_bits) * 1.01;  // 1 % for the rounding of the root
  if (factor >= std::ldexp(1.0, kRangeBits))
    RangeError("a clip factor in published form", "privacy.clip or fraction_bits");
}

}  // namespace trefoil::ml

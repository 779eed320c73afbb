#include "ml/step_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "dp/truncated_poisson.h"
#include "protocols/inverse_sqrt.h"

namespace trefoil::ml {
namespace {

constexpr int kRangeBits = 62;
constexpr int kMantissaBits = 12;
constexpr int kLeastMantissaBits = 6;
constexpr double kNoiseTail = 40;  // deviations that noise is taken to stay within
constexpr int kSigmaBits = 20;

[[noreturn]] void RangeError(const char* what,
                             const char* remedy =
                                 "fraction_bits, training.max_batch_per_owner, training.learning_rate "
                                 "or, for its noise, raise privacy.epsilon") {
  std::ostringstream text;
  text << what << " can reach 2^62 with these settings; lower " << remedy;
  throw ConfigError(text.str());
}

double TotalRows(const TrainingSettings& settings) {
  return static_cast<double>(std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}));
}

/// Rows that can be in one batch.
std::int64_t LargestBatch(const TrainingSettings& settings) {
  const auto limits = BatchLimits(settings);
  return std::accumulate(limits.begin(), limits.end(), std::int64_t{0});
}

/// g = min(f, what keeps the squared gradient norm below 2^62): section 4 of the design.
int RowNormBits(const dp::LinearContribution& example) {
  const int f = example.frac_bits;
  const double squared = dp::SquaredGradientBound(example, 1);
  const int most = kRangeBits - 1 - 2 * f - static_cast<int>(std::ceil(std::log2(squared)));
  if (most < 0) RangeError("a squared gradient norm");
  return std::min(f, most);
}

double GradientSensitivity(const StepPlan& plan) {
  switch (plan.settings.clipping) {
    case Clipping::kFactorised:
      return dp::FactorisedSensitivity(plan.example, plan.settings.clip);
    case Clipping::kExamples:
      return dp::UnclippedSensitivity(plan.example);
    case Clipping::kPublished: {
      const protocols::Excess excess = protocols::InverseSqrtExcess(plan.settings.fraction_bits);
      return dp::PublishedSensitivity(plan.example, plan.settings.clip,
                                      static_cast<double>((plan.settings.features + 1) * plan.columns),
                                      excess.relative, excess.units);
    }
  }
  throw ContractError("GradientSensitivity: unknown clipping");
}

/// The largest absolute value of the noisy gradient sum on its lattice.
double GradientRange(const StepPlan& plan, double sigma) {
  const double contributions = static_cast<double>(LargestBatch(plan.settings)) * plan.sensitivity;
  const double noise = kNoiseTail * 3 * sigma * plan.sensitivity;
  return std::ldexp(contributions + noise, plan.gradient_bits);
}

/// From the gradient's lattice to the weights'.
int UpdateShift(const StepPlan& plan, const StepSize& step_size) {
  return plan.gradient_bits - plan.settings.fraction_bits + step_size.exponent;
}

/// eta / b as a mantissa of as many bits as the range leaves.
StepSize ChooseStepSize(const StepPlan& plan, double sigma) {
  const double value = plan.settings.learning_rate / plan.settings.expected_batch;
  const int free_bits = kRangeBits - 1 - static_cast<int>(std::ceil(std::log2(GradientRange(plan, sigma))));
  const int bits = std::min(kMantissaBits, free_bits);
  if (bits < kLeastMantissaBits) RangeError("the noisy gradient times the learning rate");
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [1/2, 1)
  StepSize size{.mantissa = static_cast<std::uint64_t>(std::llround(std::ldexp(fraction, bits))),
                .exponent = bits - exponent};
  const int shift = UpdateShift(plan, size);
  if (shift < 1 || shift > kRangeBits) {
    std::ostringstream text;
    text << "training.learning_rate: found " << plan.settings.learning_rate
         << ", which is out of range for training.expected_batch";
    throw ConfigError(text.str());
  }
  return size;
}

void CheckDomains(const TrainingSettings& s) {
  const auto check = [](bool holds, const char* key, double found, const char* expected) {
    if (holds) return;
    std::ostringstream text;
    text << key << ": found " << found << ", expected " << expected;
    throw ConfigError(text.str());
  };
  check(s.fraction_bits >= 8 && s.fraction_bits <= 24, "fraction_bits", s.fraction_bits, "8 to 24");
  check(s.features >= 1, "data.features", static_cast<double>(s.features), "at least 1");
  check(s.classes >= 2, "data.classes", s.classes, "at least 2");
  check(s.steps >= 1, "training.steps", s.steps, "at least 1");
  check(s.expected_batch > 0 && s.expected_batch <= TotalRows(s), "training.expected_batch", s.expected_batch,
        "above 0, at most all rows");
  check(s.row_norm > 0 && s.row_norm <= 1024, "features.row_norm", s.row_norm, "above 0, at most 1024");
  check(s.learning_rate > 0 && std::isfinite(s.learning_rate), "training.learning_rate", s.learning_rate,
        "above 0");
  check(s.clip > 0 && s.clip <= 1024, "privacy.clip", s.clip, "above 0, at most 1024");
  check(s.sampling == Sampling::kPublic || s.max_batch_per_owner >= 1, "training.max_batch_per_owner",
        static_cast<double>(s.max_batch_per_owner), "at least 1");
  check(!s.sigma || (*s.sigma >= 0 && std::isfinite(*s.sigma)), "privacy.sigma", s.sigma.value_or(0),
        "0 or more");
}

/// For a range analysis before sigma is known: noise beyond this multiplier would drown any model.
constexpr double kLargestSigma = 1000;

/// The truncations of logits need |Z| < 2^62 where Z is not taken modulo a period: the weights grow by at
/// most the largest update a step.
void CheckLogitRange(const StepPlan& plan, double sigma) {
  if (plan.activation.loss != Loss::kSquared) return;
  const double update = GradientRange(plan, sigma) * static_cast<double>(plan.step_size.mantissa) *
                        std::ldexp(1.0, -plan.step_size.exponent - plan.gradient_bits);
  const double weights = update * plan.settings.steps;
  const double logit =
      dp::RowBound(plan.example) * std::sqrt(static_cast<double>(plan.settings.features + 1)) * weights;
  if (std::ldexp(logit, 2 * plan.settings.fraction_bits) >= std::ldexp(1.0, kRangeBits))
    RangeError("a logit");
}

/// C times the inverse square root of the smallest norm, before its truncation.
void CheckPublishedRange(const TrainingSettings& settings) {
  const double factor =
      settings.clip * std::exp2(2.5 * settings.fraction_bits) * 1.01;  // 1 % for the rounding of the root
  if (factor >= std::ldexp(1.0, kRangeBits))
    RangeError("a clip factor in published form", "privacy.clip or fraction_bits");
}

double OnSigmaLattice(double sigma) {
  return std::ldexp(std::ceil(std::ldexp(sigma, kSigmaBits)), -kSigmaBits);
}

double SmallestSigma(const StepPlan& plan, std::int64_t max_participation) {
  const TrainingSettings& s = plan.settings;
  if (s.sigma) return OnSigmaLattice(*s.sigma);
  const dp::DpSgdSteps one = EventOf(plan, 1.0, s.steps, max_participation);
  // Says which limit is too small where cut batches alone would eat the target's delta.
  (void)dp::RemainingDelta(s.target_epsilon, s.delta, s.steps, one.sampling_rate, one.limits);
  return OnSigmaLattice(dp::SmallestNoiseMultiplier(s.target_epsilon, [&](double sigma) {
    const dp::DpSgdSteps event = EventOf(plan, OnSigmaLattice(sigma), s.steps, max_participation);
    dp::RdpAccountant accountant;
    accountant.Add(s.against == Adversary::kInsider ? dp::InsiderEvents(event) : dp::OutsiderEvents(event));
    return accountant.Epsilon(s.delta).epsilon;
  }));
}

}  // namespace

StepPlan MakeStepPlan(const TrainingSettings& settings, protocols::Form form) {
  CheckDomains(settings);
  StepPlan plan;
  plan.settings = settings;
  plan.columns = settings.classes == 2 ? 1 : settings.classes;
  plan.activation =
      MakeActivation(settings.loss, settings.logit_bound, settings.fraction_bits, settings.truncation);
  plan.example = {.frac_bits = settings.fraction_bits,
                  .row_norm = settings.row_norm,
                  .columns = plan.columns,
                  .error_norm = ErrorNormBound(plan.activation, plan.columns)};
  plan.row_norm_bits = RowNormBits(plan.example);
  plan.gradient_bits =
      settings.clipping == Clipping::kPublished ? settings.fraction_bits : 2 * settings.fraction_bits;
  plan.sensitivity = GradientSensitivity(plan);
  plan.lattice_sensitivity =
      static_cast<std::uint64_t>(std::ceil(std::ldexp(plan.sensitivity, plan.gradient_bits)));
  if (settings.clipping == Clipping::kFactorised) {
    const double slack = std::ldexp(1.0, -plan.row_norm_bits);
    plan.clip =
        protocols::MakeClipTable(settings.clip, dp::SquaredGradientBound(plan.example, slack),
                                 plan.row_norm_bits + 2 * settings.fraction_bits, form, settings.truncation);
  }
  if (settings.clipping == Clipping::kPublished) CheckPublishedRange(settings);
  plan.step_size = ChooseStepSize(plan, std::min(settings.sigma.value_or(10), kLargestSigma));
  plan.update_shift = UpdateShift(plan, plan.step_size);
  plan.batch_rows = LargestBatch(settings);
  return plan;
}

double SamplingRate(const TrainingSettings& settings) {
  return settings.expected_batch / TotalRows(settings);
}

std::array<std::int64_t, 3> BatchLimits(const TrainingSettings& settings) {
  std::array<std::int64_t, 3> limits = settings.rows;
  if (settings.sampling == Sampling::kPublic) return limits;
  for (std::int64_t& rows : limits) rows = std::min(rows, settings.max_batch_per_owner);
  return limits;
}

dp::Uint256 NoiseVariance(const StepPlan& plan, double sigma) {
  // sigma is a multiple of 2^-20: in integers, (sigma 2^20 Delta)^2 / 2^41, rounded up.
  const dp::Uint256 product =
      dp::Uint256(static_cast<std::uint64_t>(std::ceil(std::ldexp(sigma, kSigmaBits)))) *
      plan.lattice_sensitivity;
  const dp::Uint256 square = product * product;
  const unsigned shift = 2 * kSigmaBits + 1;
  return (square + ((dp::Uint256(1) << shift) - 1)) >> shift;
}

dp::DpSgdSteps EventOf(const StepPlan& plan, double sigma, std::int64_t steps,
                       std::int64_t max_participation) {
  const TrainingSettings& s = plan.settings;
  dp::DpSgdSteps event;
  event.steps = steps;
  event.sampling =
      s.sampling == Sampling::kPublic ? dp::SamplingMode::kPublic : dp::SamplingMode::kOwnerPoisson;
  event.sampling_rate = SamplingRate(s);
  event.sigma = sigma;
  event.sensitivity = plan.sensitivity;
  event.clip = s.clip;
  event.limits.capacity = s.rows;
  event.limits.max_batch = BatchLimits(s);
  event.max_participation = s.sampling == Sampling::kPublic ? max_participation : 0;
  event.party_deviation =
      std::floor(std::sqrt(NoiseVariance(plan, sigma).convert_to<double>()) * (1 - 1e-12));
  event.coordinates = (s.features + 1) * plan.columns;
  return event;
}

double ChooseSigma(const StepPlan& plan, std::int64_t max_participation) {
  const double sigma = SmallestSigma(plan, max_participation);
  if (GradientRange(plan, sigma) * static_cast<double>(plan.step_size.mantissa) >=
      std::ldexp(1.0, kRangeBits)) {
    RangeError("the noisy gradient times the learning rate");
  }
  CheckLogitRange(plan, sigma);
  if (sigma > 0)
    (void)dp::DiscreteGaussian(NoiseVariance(plan, sigma));  // refuses noise too narrow for the lattice
  return sigma;
}

void RequireDeltaForBoth(const StepPlan& plan, double sigma, std::int64_t max_participation) {
  const TrainingSettings& s = plan.settings;
  if (s.sigma) return;  // no target: what there is is reported, be it no guarantee
  const dp::DpSgdSteps event = EventOf(plan, sigma, s.steps, max_participation);
  dp::DpSgdSteps uncut = event;
  uncut.limits.max_batch = uncut.limits.capacity;
  dp::RecordAccountant accountant;
  accountant.Add(uncut);
  const dp::EpsilonPair epsilons = accountant.Epsilons(s.delta);
  for (const double epsilon : {epsilons.outsider, epsilons.insider}) {
    if (std::isfinite(epsilon))
      (void)dp::RemainingDelta(epsilon, s.delta, s.steps, event.sampling_rate, event.limits);
  }
}

std::string Fingerprint(const StepPlan& plan, double sigma) {
  std::ostringstream text;
  text << std::hexfloat;
  const bool exact = plan.settings.truncation == protocols::Rounding::kExact;
  text << (exact ? "exact " : "stochastic ");
  text << plan.columns << ' ' << plan.row_norm_bits << ' ' << plan.gradient_bits << ' '
       << plan.lattice_sensitivity << ' ' << plan.step_size.mantissa << ' ' << plan.step_size.exponent << ' '
       << plan.batch_rows << ' ' << plan.clip.shift << ' ' << plan.clip.pieces.width << ' ' << sigma;
  for (const std::int64_t threshold : plan.clip.pieces.thresholds) text << ' ' << threshold;
  for (const auto& piece : plan.clip.pieces.coefficients) {
    for (const std::int64_t coefficient : piece) text << ' ' << coefficient;
  }
  return text.str();
}

}  // namespace trefoil::ml

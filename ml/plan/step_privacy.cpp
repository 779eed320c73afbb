#include "ml/plan/step_privacy.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/outward_text.h"
#include "dp/accounting/calibration.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "ml/plan/step_ranges.h"

namespace trefoil::ml {
namespace {

constexpr int kSigmaBits = 20;

/// The accountant of the adversary that the target is for, with what was executed before the steps.
dp::AnyAccountant AccountantAfter(const std::vector<dp::RecordedEvent>& before,
                                  const TrainingSettings& settings) {
  dp::AnyAccountant accountant(settings.accountant);
  for (const auto& event : before)
    accountant.Add(settings.against == Adversary::kInsider ? dp::InsiderEvents(event)
                                                           : dp::OutsiderEvents(event));
  return accountant;
}

dp::SamplingMode ModeOf(Sampling sampling) {
  switch (sampling) {
    case Sampling::kOwnerPoisson:
      return dp::SamplingMode::kOwnerPoisson;
    case Sampling::kPublic:
      return dp::SamplingMode::kPublic;
    case Sampling::kFull:
      return dp::SamplingMode::kFull;
    case Sampling::kDeposited:
      return dp::SamplingMode::kDeposited;
  }
  throw ContractError("ModeOf: unknown sampling");
}

/// In lattice units, rounded down.
double DeviationOf(const dp::Uint256& variance) {
  return std::floor(std::sqrt(variance.convert_to<double>()) * (1 - 1e-12));
}

const char* WhatComesBefore(const TrainingSettings& s) {
  if (s.balance_sigma) return "model.class_counts_sigma and all else before the first step alone take";
  return s.standardisation ? "features.standardise and [initialisation] alone take"
                           : "[initialisation] alone takes";
}

/// That the counts of an adaptive clip take no more than half of what a step may tell.
void CheckClipCounts(const TrainingSettings& s, double sigma) {
  if (!s.adaptive || kMostOfGradient * sigma <= ClipCountMultiplier(s)) return;
  std::ostringstream text;
  text << "privacy.clip_count_sigma: found " << ClipCountMultiplier(s) / 2 << ", expected at least "
       << DigitsAbove(sigma / kMostOfGradient, 6) << ", for a sigma of " << sigma
       << ": more noise on the counts, or less by a larger epsilon";
  throw ConfigError(text.str());
}

double SmallestSigma(const StepPlan& plan, std::int64_t max_participation,
                     const std::vector<dp::RecordedEvent>& before) {
  const TrainingSettings& s = plan.settings;
  if (s.sigma) return OnSigmaLattice(*s.sigma);
  const dp::DpSgdSteps one = EventOf(plan, 1.0, s.steps, max_participation);
  if (s.accountant == dp::AccountantKind::kPea) dp::CheckPeaRange(s.target_epsilon, s.delta);
  // Says which limit is too small where cut batches alone would eat the target's delta.
  (void)dp::RemainingDelta(s.delta, s.steps, one.sampling_rate, one.limits);
  const dp::AnyAccountant start = AccountantAfter(before, s);
  const double spent = start.Epsilon(s.delta).epsilon;
  if (spent >= s.target_epsilon) {
    std::ostringstream text;
    text << "privacy.epsilon: found " << s.target_epsilon << ", expected above " << DigitsAbove(spent, 6)
         << ", which " << WhatComesBefore(s);
    throw ConfigError(text.str());
  }
  const auto epsilon = [&](double sigma) {
    const dp::DpSgdSteps event = EventOf(plan, OnSigmaLattice(sigma), s.steps, max_participation);
    dp::AnyAccountant accountant = start;
    accountant.Add(s.against == Adversary::kInsider ? dp::InsiderEvents(event) : dp::OutsiderEvents(event));
    return accountant.Epsilon(s.delta).epsilon;
  };
  if (!s.calibrated_sigma) return OnSigmaLattice(dp::SmallestNoiseMultiplier(s.target_epsilon, epsilon));
  // One look where the search takes many: of other settings it could be too small.
  Require(epsilon(*s.calibrated_sigma) <= s.target_epsilon,
          "ChooseSigma: a calibrated sigma that meets the target");
  return OnSigmaLattice(*s.calibrated_sigma);
}

}  // namespace

double OnSigmaLattice(double sigma) {
  return std::ldexp(std::ceil(std::ldexp(sigma, kSigmaBits)), -kSigmaBits);
}

dp::Uint256 NoiseVariance(double sigma, std::uint64_t sensitivity, unsigned halvings) {
  // In integers: (sigma 2^20 sensitivity)^2 / 2^(40 + halvings), rounded up.
  const dp::Uint256 product =
      dp::Uint256(static_cast<std::uint64_t>(std::ceil(std::ldexp(sigma, kSigmaBits)))) * sensitivity;
  const dp::Uint256 square = product * product;
  const unsigned shift = 2 * kSigmaBits + halvings;
  return (square + ((dp::Uint256(1) << shift) - 1)) >> shift;
}

double GradientSigma(const TrainingSettings& settings, double sigma) {
  if (!settings.adaptive || sigma == 0) return sigma;
  const double share = std::min(sigma / ClipCountMultiplier(settings), 1 / kMostOfGradient);
  // More than what these doubles lose.
  return OnSigmaLattice(sigma / std::sqrt((1 - share) * (1 + share)) * (1 + 1e-12));
}

dp::Uint256 NoiseVariance(const StepPlan& plan, double sigma) {
  return NoiseVariance(GradientSigma(plan.settings, sigma), plan.lattice_sensitivity, 1);
}

std::uint64_t ClipCountSensitivity(const TrainingSettings& settings) {
  return std::uint64_t{1} << RowFractionBits(settings);
}

dp::Uint256 ClipCountVariance(const TrainingSettings& settings) {
  return NoiseVariance(OnSigmaLattice(ClipCountMultiplier(settings)), ClipCountSensitivity(settings), 1);
}

dp::DpSgdSteps EventOf(const StepPlan& plan, double sigma, std::int64_t steps,
                       std::int64_t max_participation) {
  const TrainingSettings& s = plan.settings;
  dp::DpSgdSteps event;
  event.steps = steps;
  event.sampling = ModeOf(s.sampling);
  event.sampling_rate = SamplingRate(s);
  event.sigma = sigma;
  event.sensitivity = plan.sensitivity;
  event.clip = s.clip;
  event.limits.capacity = s.rows;
  event.limits.max_batch = BatchLimits(s);
  if (s.batches) {
    event.limits.capacity = {s.batches->records, 0, 0};
    event.limits.max_batch = {BatchOfOneDeposit(s), 0, 0};
  }
  event.limits.group_rows = s.group_rows;
  event.vertical = s.vertical.has_value();
  event.max_participation = s.sampling == Sampling::kPublic ? max_participation : 0;
  event.party_deviation = DeviationOf(NoiseVariance(plan, sigma));
  event.coordinates = ShapeOfWeights(plan).weights();
  if (s.adaptive) {
    event.clip_count_sigma = ClipCountMultiplier(s) / 2;
    event.party_deviation = std::min(event.party_deviation, DeviationOf(ClipCountVariance(s)));
    ++event.coordinates;
  }
  return event;
}

double ChooseSigma(const StepPlan& plan, std::int64_t max_participation,
                   const std::vector<dp::RecordedEvent>& before) {
  const double sigma = SmallestSigma(plan, max_participation, before);
  CheckClipCounts(plan.settings, sigma);
  CheckUpdateRange(plan, sigma);
  CheckLogitRange(plan, sigma);
  CheckRowBits(plan, sigma);
  if (sigma > 0)
    (void)dp::DiscreteGaussian(NoiseVariance(plan, sigma));  // refuses noise too narrow for the lattice
  if (sigma > 0 && plan.settings.adaptive) (void)dp::DiscreteGaussian(ClipCountVariance(plan.settings));
  return sigma;
}

}  // namespace trefoil::ml

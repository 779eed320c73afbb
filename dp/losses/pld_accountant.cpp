#include "dp/losses/pld_accountant.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dp/accounting/analytic_gaussian.h"
#include "dp/accounting/infinity.h"
#include "dp/mechanisms/rounding.h"

namespace trefoil::dp {
namespace {

constexpr double kMaxReleases = 1e9;
/// Laplace scales and epsilons of events that are as good as none, or as no noise: left to RDP.
constexpr double kExtreme = 1e6;
/// Units over the multiplier of a sampled Gaussian beyond which one release that takes them has an epsilon of
/// 20,000, and its law a grid that takes many seconds: left to RDP, for a promise that is none either way.
constexpr double kMostShift = 200;
constexpr double kMuRounding = 1e-12;
/// Densities within a factor exp(+-1e-100) of those of mu from 1e-6 to 20 have mu (1 + 1e-12):
/// docs/explanation/privacy.md, "The whole promise".
constexpr double kMaxDivergenceOfMu = 1e-100;
constexpr double kMinMuWithDivergence = 1e-6;
constexpr double kMaxMuWithDivergence = 20;

}  // namespace

void PldAccountant::Add(const Event& event) {
  rdp_.Add(event);  // refuses what is out of its domain
  std::visit([this](const auto& one) { AddOne(one); }, event);
}

void PldAccountant::AddOne(const SampledGaussian& event) {
  if (event.count == 0 || event.sampling_rate == 0) return;
  const auto units = static_cast<double>(event.units);
  const double variance = event.noise_multiplier * event.noise_multiplier;
  const bool sampled = event.sampling_rate < 1;
  if (!(variance > 0) || (sampled && units > kMostShift * event.noise_multiplier)) {
    bounded_ = false;
  } else if (!sampled) {
    plain_ =
        SumAbove(plain_, static_cast<double>(event.count), units * units / variance * (1 + kClosedFormError));
    ++plain_events_;
    bounded_ = bounded_ && std::isfinite(plain_);
  } else {
    sampled_[{event.sampling_rate, event.noise_multiplier, event.units}] += event.count;
    releases_ += static_cast<double>(event.count);
  }
}

void PldAccountant::AddOne(const Laplace& event) {
  if (event.count == 0) return;
  if (event.scale < 1 / kExtreme || event.scale > kExtreme) {
    bounded_ = false;
    return;
  }
  laplace_[event.scale] += event.count;
  releases_ += static_cast<double>(event.count);
}

void PldAccountant::AddOne(const PureDp& event) {
  if (event.count == 0 || event.epsilon == 0) return;
  if (event.epsilon < 1 / kExtreme || event.epsilon > kExtreme) {
    bounded_ = false;
    return;
  }
  pure_[event.epsilon] += event.count;
  releases_ += static_cast<double>(event.count);
}

void PldAccountant::AddOne(const ThreeLaplaceParts& event) {
  if (event.count == 0) return;
  if (event.rate < 1 / kExtreme || event.rate > kExtreme) {
    bounded_ = false;
    return;
  }
  parts_[event.rate] += event.count;
  releases_ += static_cast<double>(event.count);
}

void PldAccountant::AddOne(const MaxDivergence& event) {
  if (event.count > 0) divergence_ = SumAbove(divergence_, static_cast<double>(event.count), event.bound);
}

void PldAccountant::AddOne(const TotalVariation& event) {
  distance_ = SumAbove(distance_, static_cast<double>(event.count), event.distance);
}

void PldAccountant::AddOne(const IndependentFailure& event) {
  failure_ = SumAbove(failure_, static_cast<double>(event.count), event.probability);
}

void PldAccountant::AddOne(const BestOfTrials& /*event*/) { bounded_ = false; }

std::vector<LossEvent> PldAccountant::LossEvents() const {
  std::vector<LossEvent> events;
  if (plain_ > 0) events.emplace_back(SampledGaussian{1, PlainMultiplier(), 1});
  for (const auto& [key, count] : sampled_)
    events.emplace_back(SampledGaussian{std::get<0>(key), std::get<1>(key), count, std::get<2>(key)});
  for (const auto& [scale, count] : laplace_) events.emplace_back(Laplace{scale, count});
  for (const auto& [epsilon, count] : pure_) events.emplace_back(PureDp{epsilon, count});
  for (const auto& [rate, count] : parts_) events.emplace_back(ThreeLaplaceParts{rate, count});
  return events;
}

double PldAccountant::PlainMultiplier() const { return (1 - kClosedFormError) / std::sqrt(plain_); }

PldBounds PldAccountant::PlainBounds(double delta) const {
  // Every addition rounded plain_ up by less than 2^-51 of it, and its root and quotient lose less than
  // 2^-48.
  const double above = PlainMultiplier() * (1 + 0x1p-48 + plain_events_ * 0x1p-51);
  return {.epsilon = AnalyticGaussianEpsilon(PlainMultiplier(), delta),
          .lower = AnalyticGaussianEpsilonBelow(above, delta * (1 + 0x1p-48))};
}

std::optional<double> PldAccountant::Mu() const {
  const bool only_plain =
      plain_ > 0 && sampled_.empty() && laplace_.empty() && pure_.empty() && parts_.empty();
  if (!only_plain || !bounded_ || distance_ > 0 || failure_ > 0) return {};
  const double mu = std::sqrt(plain_) * (1 + kMuRounding);
  if (divergence_ == 0) return mu;
  if (divergence_ > kMaxDivergenceOfMu || mu > kMaxMuWithDivergence) return {};
  return std::max(mu, kMinMuWithDivergence) * (1 + kMuRounding);
}

std::optional<Pld> PldAccountant::Distributions(double delta) const {
  const auto events = LossEvents();
  const bool only_plain = plain_ > 0 && events.size() == 1;
  const bool beyond = !bounded_ || releases_ > kMaxReleases || !std::isfinite(divergence_);
  if (beyond || events.empty() || only_plain) return {};
  return Pld(events, delta);
}

Guarantee PldAccountant::Epsilon(double delta) const { return Epsilon(delta, Distributions(delta)); }

Guarantee PldAccountant::Epsilon(double delta, const std::optional<Pld>& pld) const {
  const Guarantee rdp = rdp_.Epsilon(delta);
  const bool only_plain = plain_ > 0 && LossEvents().size() == 1;
  if (!bounded_ || releases_ > kMaxReleases || !std::isfinite(divergence_))
    return {
        .epsilon = rdp.epsilon, .order = rdp.order, .error = std::isfinite(rdp.epsilon) ? rdp.epsilon : 0};

  double lower = 0;
  const double epsilon = EpsilonAfterFailures(delta, failure_, distance_, [&](double remaining) {
    const double inner = DeltaWithin(remaining, divergence_);
    PldBounds bounds;
    if (!(inner > 0)) {
      bounds.epsilon = kInfinity;
    } else if (only_plain) {
      bounds = PlainBounds(inner);
    } else if (pld) {
      bounds = pld->Epsilon(inner);
    }
    lower = bounds.lower + 2 * divergence_;
    return SumAbove(bounds.epsilon, 2, divergence_);
  });
  if (rdp.epsilon <= epsilon)
    return {.epsilon = rdp.epsilon, .order = rdp.order, .error = std::max(rdp.epsilon - lower, 0.0)};
  return {.epsilon = epsilon, .order = 0, .error = std::max(epsilon - lower, 0.0)};
}

}  // namespace trefoil::dp

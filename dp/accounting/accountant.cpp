#include "dp/accounting/accountant.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/outward_text.h"
#include "dp/accounting/best_of_trials.h"
#include "dp/accounting/infinity.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kSmallestMultiplier = 0.01;
constexpr double kLargestMultiplier = 1e7;
constexpr double kCalibrationAccuracy = 1e-4;

/// What bounds the relative error of LaplaceRdp.
constexpr double kLaplaceRdpError = 1e-8;

void CheckTarget(double target_epsilon) {
  CheckParameter(target_epsilon > 0, "target epsilon", target_epsilon, "a number above 0");
}

[[noreturn]] void ThrowOutOfReach(double target_epsilon, double best) {
  std::ostringstream text;
  text << "target epsilon: found " << target_epsilon << ", expected at least " << DigitsAbove(best, 6)
       << ", which is what a noise multiplier of " << kLargestMultiplier << " gives";
  throw ConfigError(text.str());
}

}  // namespace

RdpAccountant::RdpAccountant(std::vector<double> orders)
    : orders_(std::move(orders)), rdp_(orders_.size(), 0.0) {
  Require(!orders_.empty(), "RdpAccountant: at least one order");
}

void RdpAccountant::Add(const Event& event) {
  CheckEvent(event);
  std::visit([this](const auto& one) { AddOne(one); }, event);
}

void RdpAccountant::Add(const std::vector<Event>& events) {
  for (const auto& event : events) Add(event);
}

void RdpAccountant::AddOne(const SampledGaussian& event) {
  if (event.count == 0) return;
  pure_ = kInfinity;
  const bool several = event.units > 1 && event.sampling_rate > 0;
  const double rate = several ? 1 : event.sampling_rate;
  const double multiplier = event.noise_multiplier / static_cast<double>(event.units);
  auto& curve = curves_[{rate, multiplier}];
  if (curve.empty()) {
    const double error = rate < 1 ? kSampledGaussianRdpError : kClosedFormError;
    for (const double order : orders_)
      curve.push_back((1 + error) * SampledGaussianRdp(rate, multiplier, order));
  }
  for (std::size_t i = 0; i < rdp_.size(); ++i)
    rdp_[i] = SumAbove(rdp_[i], static_cast<double>(event.count), curve[i]);
}

void RdpAccountant::AddOne(const Laplace& event) {
  if (event.count == 0) return;
  const auto count = static_cast<double>(event.count);
  pure_ = SumAbove(pure_, count, (1 + kClosedFormError) / event.scale);
  for (std::size_t i = 0; i < rdp_.size(); ++i)
    rdp_[i] = SumAbove(rdp_[i], count, (1 + kLaplaceRdpError) * LaplaceRdp(event.scale, orders_[i]));
}

void RdpAccountant::AddOne(const PureDp& event) {
  if (event.count == 0) return;
  const auto count = static_cast<double>(event.count);
  pure_ = SumAbove(pure_, count, event.epsilon);
  for (std::size_t i = 0; i < rdp_.size(); ++i)
    rdp_[i] = SumAbove(rdp_[i], count, (1 + kLaplaceRdpError) * PureDpRdp(event.epsilon, orders_[i]));
}

void RdpAccountant::AddOne(const ThreeLaplaceParts& event) {
  if (event.count == 0) return;
  const auto count = static_cast<double>(event.count);
  pure_ = SumAbove(pure_, count, event.rate);
  const auto curve = ThreeLaplacePartsRdp(event.rate, orders_);
  for (std::size_t i = 0; i < rdp_.size(); ++i)
    rdp_[i] = SumAbove(rdp_[i], count, (1 + kLaplaceRdpError) * curve[i]);
}

void RdpAccountant::AddOne(const MaxDivergence& event) {
  if (event.count == 0) return;
  pure_ = kInfinity;
  const double bound = event.bound * static_cast<double>(event.count);
  for (std::size_t i = 0; i < rdp_.size(); ++i)
    rdp_[i] = SumAbove(rdp_[i], bound, (1 + kClosedFormError) * (2 * orders_[i] - 1) / (orders_[i] - 1));
}

void RdpAccountant::AddOne(const TotalVariation& event) {
  distance_ = SumAbove(distance_, static_cast<double>(event.count), event.distance);
}

void RdpAccountant::AddOne(const IndependentFailure& event) {
  failure_ = SumAbove(failure_, static_cast<double>(event.count), event.probability);
}

void RdpAccountant::AddOne(const BestOfTrials& event) {
  pure_ = kInfinity;
  const auto curve = CurveOfTrials(event, orders_);
  for (std::size_t i = 0; i < rdp_.size(); ++i) rdp_[i] = SumAbove(rdp_[i], 1, curve[i]);
}

Guarantee RdpAccountant::Epsilon(double delta, RdpConversion conversion) const {
  CheckDelta(delta);
  Guarantee last;
  const double epsilon = EpsilonAfterFailures(delta, failure_, distance_, [&](double remaining) {
    last = RdpToEpsilon(orders_, rdp_, remaining, conversion);
    if (pure_ < last.epsilon) last = {.epsilon = pure_};
    return last.epsilon;
  });
  return {.epsilon = epsilon, .order = std::isfinite(epsilon) ? last.order : 0};
}

double SmallestNoiseMultiplier(double target_epsilon, const std::function<double(double)>& epsilon) {
  CheckTarget(target_epsilon);
  const auto meets = [&](double multiplier) {
    const double value = epsilon(multiplier);
    Require(!std::isnan(value), "SmallestNoiseMultiplier: epsilon is not a number");
    return value <= target_epsilon;
  };
  double high = 1;
  while (!meets(high)) {
    if (high == kLargestMultiplier) ThrowOutOfReach(target_epsilon, epsilon(high));
    high = std::min(2 * high, kLargestMultiplier);
  }
  double low = high / 2;
  while (low > kSmallestMultiplier && meets(low)) {
    high = low;
    low /= 2;
  }
  low = std::max(low, kSmallestMultiplier);
  if (high <= 2 * kSmallestMultiplier && meets(low)) return low;
  while (high > low * (1 + kCalibrationAccuracy)) {
    const double middle = std::sqrt(low * high);
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace trefoil::dp

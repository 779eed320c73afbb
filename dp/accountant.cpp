#include "dp/accountant.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "dp/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallestMultiplier = 0.01;
constexpr double kLargestMultiplier = 1e7;
constexpr double kCalibrationAccuracy = 1e-4;
constexpr double kPeaRange = 2.3;

void CheckCount(std::int64_t count) {
  CheckParameter(count >= 0, "number of releases", static_cast<double>(count), "a number not below 0");
}

void CheckTarget(double target_epsilon) {
  CheckParameter(target_epsilon > 0, "target epsilon", target_epsilon, "a number above 0");
}

void CheckPeaRange(double epsilon, double delta) {
  const double limit = kPeaRange * std::log(1 / delta);
  std::ostringstream expected;
  expected << "at most 2.3 ln(1/delta) = " << limit << ", beyond which the closed form proves nothing";
  CheckParameter(epsilon <= limit, "epsilon of accountant \"pea\"", epsilon, expected.str().c_str());
}

double SqrtOfStepsLogInverse(std::int64_t steps, double delta) {
  CheckDelta(delta);
  CheckParameter(steps >= 1, "number of steps", static_cast<double>(steps), "a number not below 1");
  return std::sqrt(static_cast<double>(steps) * std::log(1 / delta));
}

[[noreturn]] void ThrowOutOfReach(double target_epsilon, double best) {
  std::ostringstream text;
  text << "target epsilon: found " << target_epsilon << ", expected at least " << best
       << ", which is what a noise multiplier of " << kLargestMultiplier << " gives";
  throw ConfigError(text.str());
}

}  // namespace

RdpAccountant::RdpAccountant(std::vector<double> orders)
    : orders_(std::move(orders)), rdp_(orders_.size(), 0.0) {
  Require(!orders_.empty(), "RdpAccountant: at least one order");
}

void RdpAccountant::Add(const Event& event) {
  std::visit([this](const auto& one) { AddOne(one); }, event);
}

void RdpAccountant::Add(const std::vector<Event>& events) {
  for (const auto& event : events) Add(event);
}

void RdpAccountant::AddOne(const SampledGaussian& event) {
  CheckSamplingRate(event.sampling_rate);
  CheckNoiseMultiplier(event.noise_multiplier);
  CheckCount(event.count);
  if (event.count == 0) return;
  auto& curve = curves_[{event.sampling_rate, event.noise_multiplier}];
  if (curve.empty()) {
    for (const double order : orders_) {
      curve.push_back(SampledGaussianRdp(event.sampling_rate, event.noise_multiplier, order));
    }
  }
  for (std::size_t i = 0; i < rdp_.size(); ++i) rdp_[i] += static_cast<double>(event.count) * curve[i];
}

void RdpAccountant::AddOne(const MaxDivergence& event) {
  CheckParameter(event.bound >= 0, "maximum divergence", event.bound, "a number not below 0");
  CheckCount(event.count);
  if (event.count == 0) return;
  const double bound = event.bound * static_cast<double>(event.count);
  for (std::size_t i = 0; i < rdp_.size(); ++i) rdp_[i] += bound * (2 * orders_[i] - 1) / (orders_[i] - 1);
}

void RdpAccountant::AddOne(const TotalVariation& event) {
  CheckParameter(event.distance >= 0 && event.distance <= 1, "total variation", event.distance,
                 "a number from 0 to 1");
  CheckCount(event.count);
  distance_ += event.distance * static_cast<double>(event.count);
}

RdpGuarantee RdpAccountant::Epsilon(double delta) const {
  CheckDelta(delta);
  // The least fixed point, approached from below; each step overshoots a little, so that the last one lands
  // on an epsilon that its own delta supports.
  constexpr int kMaxSteps = 1000;
  double assumed = 0;
  for (int i = 0; i < kMaxSteps; ++i) {
    const double remaining = delta - (1 + std::exp(assumed)) * distance_;
    if (!(remaining > 0)) break;
    auto guarantee = RdpToEpsilon(orders_, rdp_, remaining);
    if (guarantee.epsilon <= assumed || distance_ == 0) return guarantee;
    if (std::isinf(guarantee.epsilon)) break;
    assumed = guarantee.epsilon * (1 + 1e-10);
  }
  return {kInfinity, 0};
}

double PeaEpsilon(double noise_multiplier, std::int64_t steps, double delta) {
  CheckParameter(noise_multiplier > 0 && std::isfinite(noise_multiplier), "noise multiplier",
                 noise_multiplier, "a finite number above 0");
  const double epsilon = 2 * SqrtOfStepsLogInverse(steps, delta) / noise_multiplier;
  CheckPeaRange(epsilon, delta);
  return epsilon;
}

double PeaNoiseMultiplier(double target_epsilon, std::int64_t steps, double delta) {
  CheckTarget(target_epsilon);
  const double numerator = 2 * SqrtOfStepsLogInverse(steps, delta);
  CheckPeaRange(target_epsilon, delta);
  return numerator / target_epsilon;
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

double CalibrateNoiseMultiplier(double target_epsilon, double delta, double sampling_rate,
                                std::int64_t steps) {
  return SmallestNoiseMultiplier(target_epsilon, [&](double multiplier) {
    RdpAccountant accountant;
    accountant.Add(SampledGaussian{sampling_rate, multiplier, steps});
    return accountant.Epsilon(delta).epsilon;
  });
}

}  // namespace trefoil::dp

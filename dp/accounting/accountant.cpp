#include "dp/accounting/accountant.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dp/accounting/best_of_trials.h"
#include "dp/accounting/infinity.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

/// What bounds the relative error of LaplaceRdp.
constexpr double kLaplaceRdpError = 1e-8;

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

}  // namespace trefoil::dp

#include "dp/accounting/pea_accountant.h"

#include <cmath>
#include <sstream>

#include "dp/accounting/infinity.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kRange = 2.3;

/// 2 sqrt(steps ln(1/delta)), with room above for what it, and a quotient of it, are rounded.
double MultipliedEpsilon(std::int64_t steps, double delta) {
  CheckDelta(delta);
  CheckParameter(steps >= 1, "number of steps", static_cast<double>(steps), "a number not below 1");
  return 2 * std::sqrt(static_cast<double>(steps) * -std::log(delta)) * (1 + kClosedFormError);
}

/// Zero-concentrated privacy of one event.
struct Rho {
  double operator()(const SampledGaussian& event) const {
    if (event.count == 0 || event.sampling_rate == 0) return 0;
    const double multiplier = event.noise_multiplier / static_cast<double>(event.units);
    return static_cast<double>(event.count) / multiplier / multiplier / 2;
  }
  double operator()(const Laplace& event) const {
    return event.count == 0 ? 0 : static_cast<double>(event.count) / event.scale / event.scale / 2;
  }
  double operator()(const PureDp& event) const {
    return event.count == 0 ? 0 : static_cast<double>(event.count) * event.epsilon * event.epsilon / 2;
  }
  double operator()(const ThreeLaplaceParts& event) const {
    return (*this)(PureDp{.epsilon = event.rate, .count = event.count});
  }
  double operator()(const MaxDivergence&) const { return 0; }
  double operator()(const TotalVariation&) const { return 0; }
  double operator()(const IndependentFailure&) const { return 0; }
  /// The best of trials has none.
  double operator()(const BestOfTrials&) const { return kInfinity; }
};

}  // namespace

void CheckPeaRange(double epsilon, double delta) {
  CheckDelta(delta);
  const double limit = kRange * std::log(1 / delta);
  std::ostringstream expected;
  expected << "at most 2.3 ln(1/delta) = " << limit << ", beyond which the closed form proves nothing";
  CheckParameter(epsilon <= limit, "epsilon of accountant \"pea\"", epsilon, expected.str().c_str());
}

double PeaEpsilon(double noise_multiplier, std::int64_t steps, double delta) {
  CheckParameter(noise_multiplier > 0 && std::isfinite(noise_multiplier), "noise multiplier",
                 noise_multiplier, "a finite number above 0");
  const double epsilon = MultipliedEpsilon(steps, delta) / noise_multiplier;
  CheckPeaRange(epsilon, delta);
  return epsilon;
}

double PeaNoiseMultiplier(double target_epsilon, std::int64_t steps, double delta) {
  CheckParameter(target_epsilon > 0, "target epsilon", target_epsilon, "a number above 0");
  const double numerator = MultipliedEpsilon(steps, delta);
  CheckPeaRange(target_epsilon, delta);
  double multiplier = numerator / target_epsilon;
  // The quotient was rounded; the target holds for what is returned.
  while (numerator / multiplier > target_epsilon) multiplier = std::nextafter(multiplier, kInfinity);
  return multiplier;
}

void PeaAccountant::Add(const Event& event) {
  CheckEvent(event);
  rho_ = SumAbove(rho_, 1 + kClosedFormError, std::visit(Rho{}, event));
  if (const auto* factor = std::get_if<MaxDivergence>(&event)) {
    if (factor->count > 0)
      divergence_ = SumAbove(divergence_, static_cast<double>(factor->count), factor->bound);
  }
  if (const auto* near = std::get_if<TotalVariation>(&event))
    distance_ = SumAbove(distance_, static_cast<double>(near->count), near->distance);
  if (const auto* failure = std::get_if<IndependentFailure>(&event))
    failure_ = SumAbove(failure_, static_cast<double>(failure->count), failure->probability);
}

Guarantee PeaAccountant::Epsilon(double delta) const {
  CheckDelta(delta);
  if (!std::isfinite(divergence_)) return {.epsilon = kInfinity};
  return {.epsilon = EpsilonAfterFailures(delta, failure_, distance_, [&](double remaining) {
            const double inner = DeltaWithin(remaining, divergence_);
            if (rho_ == 0) return 2 * divergence_;
            if (!(inner > 0)) return kInfinity;
            // The logarithm of a number that was rounded is off by the rounding, absolutely.
            const double log = -std::log(inner) + kClosedFormError;
            const double epsilon = 2 * std::sqrt(2 * rho_ * log) * (1 + kClosedFormError);
            return epsilon <= kRange * log ? SumAbove(epsilon, 2, divergence_) : kInfinity;
          })};
}

}  // namespace trefoil::dp

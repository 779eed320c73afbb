#include "dp/record/event.h"

#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

void CheckCount(std::int64_t count) {
  CheckParameter(count >= 0, "number of releases", static_cast<double>(count), "a number not below 0");
}

struct Check {
  void operator()(const SampledGaussian& event) const {
    CheckSamplingRate(event.sampling_rate);
    CheckNoiseMultiplier(event.noise_multiplier);
    CheckCount(event.count);
    CheckParameter(event.units >= 1, "units of privacy", static_cast<double>(event.units), "a number from 1");
  }
  void operator()(const Laplace& event) const {
    CheckParameter(event.scale >= 0, "Laplace scale", event.scale, "a number not below 0");
    CheckCount(event.count);
  }
  void operator()(const PureDp& event) const {
    CheckParameter(event.epsilon >= 0, "epsilon of an event", event.epsilon, "a number not below 0");
    CheckCount(event.count);
  }
  void operator()(const ThreeLaplaceParts& event) const {
    CheckParameter(event.rate > 0, "rate of Laplace noise in parts", event.rate, "a number above 0");
    CheckCount(event.count);
  }
  void operator()(const MaxDivergence& event) const {
    CheckParameter(event.bound >= 0, "maximum divergence", event.bound, "a number not below 0");
    CheckCount(event.count);
  }
  void operator()(const TotalVariation& event) const {
    CheckParameter(event.distance >= 0 && event.distance <= 1, "total variation", event.distance,
                   "a number from 0 to 1");
    CheckCount(event.count);
  }
  void operator()(const IndependentFailure& event) const {
    CheckParameter(event.probability >= 0 && event.probability <= 1, "probability of a failure",
                   event.probability, "a number from 0 to 1");
    CheckCount(event.count);
  }
};

}  // namespace

void CheckEvent(const Event& event) { std::visit(Check{}, event); }

}  // namespace trefoil::dp

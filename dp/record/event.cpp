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
  void operator()(const BestOfTrials& event) const {
    std::int64_t trials = 0;
    for (const auto& alike : event.trials) {
      CheckParameter(alike.count >= 1 && alike.count <= kMaxTrials, "number of trials that are alike",
                     static_cast<double>(alike.count), "a number from 1 to 64");
      trials += alike.count;
      for (const auto& one : alike.each) CheckOfTrial(one);
    }
    CheckParameter(trials >= 1 && trials <= kMaxTrials, "number of trials", static_cast<double>(trials),
                   "a number from 1 to 64");
    CheckParameter(static_cast<std::int64_t>(event.weights.size()) == trials, "number of weights of trials",
                   static_cast<double>(event.weights.size()), "one a trial");
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    std::int64_t sum = 0;
    for (const std::int64_t weight : event.weights) {
      CheckParameter(weight >= 0 && weight <= kMost - sum, "weight of a number of trials",
                     static_cast<double>(weight), "weights that add up to 2^53 at most");
      sum += weight;
    }
    CheckParameter(sum > 0, "sum of the weights of trials", static_cast<double>(sum), "a number above 0");
  }

 private:
  static void CheckOfTrial(const Event& event) {
    const bool apart = std::holds_alternative<TotalVariation>(event) ||
                       std::holds_alternative<IndependentFailure>(event) ||
                       std::holds_alternative<BestOfTrials>(event);
    CheckParameter(!apart, "kind of an event of a trial", static_cast<double>(event.index()),
                   "one that has an RDP curve of its own");
    CheckEvent(event);
  }
};

}  // namespace

void CheckEvent(const Event& event) { std::visit(Check{}, event); }

}  // namespace trefoil::dp

#pragma once
#include <variant>
#include <vector>

#include "dp/record/record.h"

namespace trefoil::dp {

inline DpSgdSteps MnistSteps() {
  DpSgdSteps steps;
  steps.steps = 439;
  steps.sampling_rate = 2048.0 / 60000;
  steps.sigma = 1.1;
  steps.sensitivity = 0.5001;
  steps.clip = 0.5;
  steps.limits = {{20000, 20000, 20000}, {850, 850, 850}};
  steps.party_deviation = 1e9;
  steps.coordinates = 7850;
  return steps;
}

inline LocalTraining MnistLocalTraining() {
  return {
      .steps = 100, .sampling_rate = 0.03, .sigma = 2.5, .sensitivity = 0.5, .clip = 0.5, .deviation = 1e9};
}

inline NoisySelection MnistSelection() {
  return {.candidates = 4,
          .sampling_rate = 0.1,
          .sigma = 5,
          .limits = {{20000, 20000, 20000}, {2200, 2200, 2200}},
          .party_deviation = 7000};
}

inline DpSgdSteps& StepsOf(RecordedEvent& event) { return std::get<DpSgdSteps>(event); }

inline TrainingRecord MnistRecord() { return {"0123456789abcdef", "fedc", {MnistSteps()}}; }

inline const SampledGaussian& Noise(const std::vector<Event>& events) {
  return std::get<SampledGaussian>(events.at(0));
}
inline const MaxDivergence& Closeness(const std::vector<Event>& events) {
  return std::get<MaxDivergence>(events.at(1));
}
inline const IndependentFailure& Cutting(const std::vector<Event>& events) {
  return std::get<IndependentFailure>(events.at(2));
}

}  // namespace trefoil::dp

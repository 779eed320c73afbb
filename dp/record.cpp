#include "dp/record.h"

#include <cmath>

#include "dp/closeness.h"

namespace trefoil::dp {
namespace {

constexpr int kParties = 3;
// All three parties' noise against that of any two.
const double kOutsiderFactor = std::sqrt(1.5);

TotalVariation CutBatches(const DpSgdSteps& steps) {
  return {OverflowProbability(steps.limits, steps.sampling_rate), steps.steps};
}

template <typename EventsOf>
std::vector<Event> Collect(const TrainingRecord& record, EventsOf events_of) {
  std::vector<Event> all;
  for (const auto& steps : record.events) {
    for (const auto& event : events_of(steps)) all.push_back(event);
  }
  return all;
}

}  // namespace

std::vector<Event> OutsiderEvents(const DpSgdSteps& steps) {
  return {SampledGaussian{steps.sampling_rate, steps.sigma * kOutsiderFactor, steps.steps},
          ClosenessCharge(kParties, steps.party_deviation, steps.coordinates, steps.steps),
          CutBatches(steps)};
}

std::vector<Event> InsiderEvents(const DpSgdSteps& steps) {
  const bool amplified = steps.sampling == SamplingMode::kOwnerPoisson;
  const auto releases = amplified ? steps.steps : steps.max_participation;
  return {SampledGaussian{amplified ? steps.sampling_rate : 1.0, steps.sigma, releases},
          ClosenessCharge(kParties - 1, steps.party_deviation, steps.coordinates, releases),
          CutBatches(steps)};
}

std::vector<Event> OutsiderEvents(const TrainingRecord& record) {
  return Collect(record, [](const DpSgdSteps& steps) { return OutsiderEvents(steps); });
}

std::vector<Event> InsiderEvents(const TrainingRecord& record) {
  return Collect(record, [](const DpSgdSteps& steps) { return InsiderEvents(steps); });
}

void RecordAccountant::Add(const DpSgdSteps& steps) {
  outsider_.Add(OutsiderEvents(steps));
  insider_.Add(InsiderEvents(steps));
}

EpsilonPair RecordAccountant::Epsilons(double delta) const {
  return {outsider_.Epsilon(delta).epsilon, insider_.Epsilon(delta).epsilon};
}

EpsilonPair Epsilons(const TrainingRecord& record, double delta) {
  RecordAccountant accountant;
  for (const auto& steps : record.events) accountant.Add(steps);
  return accountant.Epsilons(delta);
}

}  // namespace trefoil::dp

#include "dp/record/record.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "dp/laws/closeness.h"

namespace trefoil::dp {
namespace {

constexpr int kParties = 3;

/// The multiplier to account with where `summands` parties' noise of deviation `party_deviation` each
/// remains.
double MultiplierOfSum(double multiplier, int summands, double party_deviation) {
  return ContinuousMultiplier(multiplier, std::sqrt(static_cast<double>(summands)) * party_deviation);
}

/// The probability with which a batch takes a row, by a coin that stays private.
double PrivateRate(const DpSgdSteps& steps) {
  return steps.sampling == SamplingMode::kFull ? 1.0 : steps.sampling_rate;
}

IndependentFailure CutBatches(const DpSgdSteps& steps, std::int64_t units) {
  return {steps.sampling == SamplingMode::kDeposited
              ? OverflowOfAnyOwners(steps.limits, PrivateRate(steps), units)
              : OverflowProbability(steps.limits, PrivateRate(steps), units),
          steps.steps};
}

std::vector<Event> Outsider(const DpSgdSteps& steps, std::int64_t units) {
  const double once = MultiplierOfSum(steps.sigma * kAllOverTwo, kParties, steps.party_deviation);
  // A record is in all executions of a batch or in none of them (docs/explanation/privacy.md, "Public
  // sampling").
  const double multiplier = once / std::sqrt(static_cast<double>(steps.executions));
  return {SampledGaussian{PrivateRate(steps), multiplier, steps.steps, units},
          ClosenessCharge(kParties, steps.party_deviation, steps.coordinates, steps.steps * steps.executions),
          CutBatches(steps, units)};
}

std::vector<Event> Insider(const DpSgdSteps& steps, std::int64_t units) {
  const bool known = steps.sampling == SamplingMode::kPublic;  // which rows a batch has
  const auto releases = known ? steps.max_participation : steps.steps;
  const auto all = steps.steps * steps.executions;
  // With public sampling each of `units` records is in `releases` executions at most; a product may overflow.
  const auto executed = !known || units > all / std::max<std::int64_t>(1, releases) ? all : units * releases;
  const double moved = steps.vertical ? 2 : 1;  // sensitivities
  double multiplier = MultiplierOfSum(steps.sigma, kParties - 1, steps.party_deviation) / moved;
  if (!known) multiplier /= std::sqrt(static_cast<double>(steps.executions));
  return {SampledGaussian{known ? 1.0 : PrivateRate(steps), multiplier, releases, units},
          ClosenessCharge(kParties - 1, steps.party_deviation, steps.coordinates, executed),
          CutBatches(steps, units)};
}

/// One discrete Gaussian, nothing summed, nothing cut, and the same for everybody but the owner.
std::vector<Event> Anyone(const LocalTraining& local, std::int64_t units) {
  return {SampledGaussian{local.sampling_rate, ContinuousMultiplier(local.sigma, local.deviation),
                          local.steps, units}};
}

/// A selection on the noise of `summands` parties.
std::vector<Event> Counted(const NoisySelection& selection, double multiplier, int summands,
                           std::int64_t units) {
  const double continuous = MultiplierOfSum(multiplier, summands, selection.party_deviation);
  return {SampledGaussian{selection.sampling_rate, continuous, 1, units},
          ClosenessCharge(summands, selection.party_deviation, selection.candidates, 1),
          IndependentFailure{OverflowProbability(selection.limits, selection.sampling_rate, units), 1}};
}

/// The same for everybody.
std::vector<Event> Released(const PureReleases& releases, std::int64_t units) {
  return {PureDp{static_cast<double>(units) * releases.epsilon, releases.count}};
}

/// Two parts: discrete Laplace noise, whose density ratio for a number that moves by 1 has two values alone.
/// Several units may move a number by as much, or as many numbers by 1: pure epsilons add up in either case.
std::vector<Event> OfTwoParts(const LaplaceCounts& counts, std::int64_t units) {
  return {PureDp{static_cast<double>(units) * counts.rate, counts.count}};
}

std::vector<Event> OfThreeParts(const LaplaceCounts& counts, std::int64_t units) {
  if (units > 1) return OfTwoParts(counts, units);
  return {ThreeLaplaceParts{counts.rate, counts.count}};
}

/// Plain Gaussians on the noise of `summands` parties.
std::vector<Event> Released(const GaussianReleases& releases, double multiplier, int summands,
                            std::int64_t units) {
  const double continuous = MultiplierOfSum(multiplier, summands, releases.party_deviation);
  return {SampledGaussian{1, continuous, releases.count, units},
          ClosenessCharge(summands, releases.party_deviation, releases.coordinates, releases.count)};
}

/// The same for whom it holds; `epsilon` infinite: for whom nothing is promised. Failures of several units
/// are those of noise that is larger by what all but one of them move it (docs/explanation/privacy.md,
/// "Several rows of one person").
std::vector<Event> Released(const ApproximateReleases& releases, double epsilon, std::int64_t units) {
  const auto more = static_cast<double>(units - 1);
  const double failure = releases.failure * std::exp(more * releases.epsilon);
  return {PureDp{static_cast<double>(units) * epsilon, releases.count},
          TotalVariation{std::min(1.0, failure), releases.count}};
}

/// The same for everybody: nothing is promised.
std::vector<Event> Released(const UnboundedReleases& releases) {
  return {PureDp{std::numeric_limits<double>::infinity(), releases.count}};
}

/// What the trials of a tuning are charged by `Charge`, and what goes to delta: failures, of all trials, as
/// they may come out badly in any of them; and equal ranks of two trials, which favour one of them.
template <typename Charge>
std::vector<Event> Tuned(const Tuning& tuning, Charge charge) {
  BestOfTrials best{.trials = {}, .weights = tuning.weights};
  std::vector<Event> charges;
  double trials = 0;
  for (const auto& alike : tuning.trials) {
    BestOfTrials::Alike one{.count = alike.count};
    trials += static_cast<double>(alike.count);
    for (const auto& executed : alike.events) {
      for (auto event : std::visit(charge, executed)) {
        auto* failure = std::get_if<IndependentFailure>(&event);
        auto* near = std::get_if<TotalVariation>(&event);
        if (failure != nullptr) failure->count *= alike.count;
        if (near != nullptr) near->count *= alike.count;
        (failure != nullptr || near != nullptr ? charges : one.each).push_back(event);
      }
    }
    best.trials.push_back(std::move(one));
  }
  charges.insert(charges.begin(), std::move(best));
  charges.emplace_back(
      IndependentFailure{std::ldexp(trials * (trials - 1) / 2, -kTrialRankBits), trials > 1 ? 1 : 0});
  return charges;
}

struct OutsiderCharge {
  std::int64_t units = 1;

  std::vector<Event> operator()(const Tuning& tuning) const { return Tuned(tuning, *this); }

  std::vector<Event> operator()(const DpSgdSteps& steps) const { return Outsider(steps, units); }
  std::vector<Event> operator()(const LocalTraining& local) const { return Anyone(local, units); }
  std::vector<Event> operator()(const NoisySelection& selection) const {
    return Counted(selection, selection.sigma * kAllOverTwo, kParties, units);
  }
  std::vector<Event> operator()(const NoisyEvaluation&) const { return {}; }
  std::vector<Event> operator()(const PureReleases& releases) const { return Released(releases, units); }
  std::vector<Event> operator()(const LaplaceCounts& counts) const { return OfThreeParts(counts, units); }
  std::vector<Event> operator()(const GaussianReleases& releases) const {
    return Released(releases, releases.sigma * kAllOverTwo, kParties, units);
  }
  std::vector<Event> operator()(const ApproximateReleases& releases) const {
    return Released(releases, releases.epsilon, units);
  }
  std::vector<Event> operator()(const UnboundedReleases& releases) const { return Released(releases); }
};

struct InsiderCharge {
  std::int64_t units = 1;

  std::vector<Event> operator()(const Tuning& tuning) const { return Tuned(tuning, *this); }

  std::vector<Event> operator()(const DpSgdSteps& steps) const { return Insider(steps, units); }
  std::vector<Event> operator()(const LocalTraining& local) const { return Anyone(local, units); }
  std::vector<Event> operator()(const NoisySelection& selection) const {
    return Counted(selection, selection.sigma, kParties - 1, units);
  }
  std::vector<Event> operator()(const NoisyEvaluation&) const { return {}; }
  std::vector<Event> operator()(const PureReleases& releases) const { return Released(releases, units); }
  std::vector<Event> operator()(const LaplaceCounts& counts) const { return OfTwoParts(counts, units); }
  std::vector<Event> operator()(const GaussianReleases& releases) const {
    return Released(releases, releases.sigma, kParties - 1, units);
  }
  std::vector<Event> operator()(const ApproximateReleases& releases) const {
    return Released(releases, releases.insiders ? releases.epsilon : std::numeric_limits<double>::infinity(),
                    units);
  }
  std::vector<Event> operator()(const UnboundedReleases& releases) const { return Released(releases); }
};

EpsilonPair PairOf(const AnyAccountant& outsider, const AnyAccountant& insider, double delta) {
  const Guarantee one = outsider.Epsilon(delta);
  const Guarantee other = insider.Epsilon(delta);
  return {one.epsilon, other.epsilon, std::max(one.error, other.error)};
}

template <typename Charge>
std::vector<Event> Collect(const TrainingRecord& record, Charge charge) {
  std::vector<Event> all;
  for (const auto& executed : record.events) {
    for (const auto& event : std::visit(charge, executed)) all.push_back(event);
  }
  return all;
}

/// What events are charged to test records.
std::vector<RecordedEvent> OfTestRecords(const std::vector<RecordedEvent>& events) {
  std::vector<RecordedEvent> counts;
  for (const auto& event : events) {
    if (const auto* evaluation = std::get_if<NoisyEvaluation>(&event)) {
      counts.emplace_back(GaussianReleases{.count = 1,
                                           .coordinates = evaluation->coordinates,
                                           .sigma = evaluation->sigma,
                                           .party_deviation = evaluation->party_deviation});
    } else if (const auto* tuning = std::get_if<Tuning>(&event)) {
      Tuning of_tests{.trials = {}, .weights = tuning->weights};
      for (const auto& alike : tuning->trials) {
        auto counted = OfTestRecords(alike.events);
        if (counted.empty()) counted.emplace_back(UnboundedReleases{.count = 1});  // counts without noise
        of_tests.trials.push_back({.count = alike.count, .events = std::move(counted)});
      }
      counts.emplace_back(std::move(of_tests));
    }
  }
  return counts;
}

}  // namespace

std::vector<RecordedEvent> Bounded(const std::vector<RecordedEvent>& events) {
  std::vector<RecordedEvent> bounded;
  std::copy_if(events.begin(), events.end(), std::back_inserter(bounded),
               [](const RecordedEvent& event) { return !std::holds_alternative<UnboundedReleases>(event); });
  return bounded;
}

bool HasUnbounded(const std::vector<RecordedEvent>& events) {
  return std::any_of(events.begin(), events.end(), [](const RecordedEvent& event) {
    return std::holds_alternative<UnboundedReleases>(event);
  });
}

std::vector<Event> OutsiderEvents(const RecordedEvent& event, std::int64_t units) {
  return std::visit(OutsiderCharge{units}, event);
}

std::vector<Event> InsiderEvents(const RecordedEvent& event, std::int64_t units) {
  return std::visit(InsiderCharge{units}, event);
}

std::vector<Event> OutsiderEvents(const TrainingRecord& record, std::int64_t units) {
  return Collect(record, OutsiderCharge{units});
}

std::vector<Event> InsiderEvents(const TrainingRecord& record, std::int64_t units) {
  return Collect(record, InsiderCharge{units});
}

RecordAccountant::RecordAccountant(AccountantKind kind) : outsider_(kind), insider_(kind) {}

void RecordAccountant::Add(const RecordedEvent& event) {
  outsider_.Add(OutsiderEvents(event));
  insider_.Add(InsiderEvents(event));
}

EpsilonPair RecordAccountant::Epsilons(double delta) const { return PairOf(outsider_, insider_, delta); }

EpsilonPair Epsilons(const TrainingRecord& record, double delta, AccountantKind kind) {
  RecordAccountant accountant(kind);
  for (const auto& event : record.events) accountant.Add(event);
  return accountant.Epsilons(delta);
}

std::optional<double> PresenceEpsilon(const TrainingRecord& record, double delta, AccountantKind kind) {
  TrainingRecord present = record;
  bool vertical = false;
  for (auto& event : present.events) {
    auto* steps = std::get_if<DpSgdSteps>(&event);
    if (steps == nullptr || !steps->vertical) continue;
    vertical = true;
    steps->vertical = false;
  }
  if (!vertical) return {};
  return Epsilons(present, delta, kind).insider;
}

EpsilonPair EpsilonsOfUnits(const TrainingRecord& record, std::int64_t units, double delta,
                            AccountantKind kind) {
  if (units == 1) return Epsilons(record, delta, kind);
  AnyAccountant outsider(AccountantKind::kPld);
  AnyAccountant insider(AccountantKind::kPld);
  outsider.Add(OutsiderEvents(record, units));
  insider.Add(InsiderEvents(record, units));
  return PairOf(outsider, insider, delta);
}

TrainingRecord TestSetRecord(const TrainingRecord& record) {
  // Their number is public, so that a record can only be another one.
  return {.job_hash = record.job_hash,
          .run_id = record.run_id,
          .events = OfTestRecords(record.events),
          .promise = Promise{.neighbours = Neighbours::kReplaced}};
}

EpsilonPair TestSetEpsilons(const TrainingRecord& record, double delta) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto counts = TestSetRecord(record);
  return counts.events.empty() ? EpsilonPair{kNone, kNone} : Epsilons(counts, delta, AccountantKind::kPld);
}

}  // namespace trefoil::dp

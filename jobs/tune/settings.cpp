#include "jobs/tune/settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "dp/laws/trial_law.h"
#include "dp/record/event.h"
#include "jobs/config/common_fields.h"
#include "jobs/dpsgd/settings/settings_rules.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

constexpr double kLargestRate = 1e6;
constexpr double kLargestClip = 1024;
/// Of the trials a third competes, unless the job says how many, and at least two, as one alone is compared
/// with none.
constexpr double kShareOfTrials = 3;
constexpr double kLeastCompeting = 2;

void EvaluationFields(FieldVisitor& v, std::optional<ml::EvaluationSettings>& s) {
  auto evaluation = s.value_or(ml::EvaluationSettings{});
  evaluation.to = {};
  auto sigma = evaluation.sigma.value_or(0);
  v("holder", evaluation.test.holder, WholeInterval{0, 2},
    "Whose party file names the test records, in the format of [data].");
  v("rows", evaluation.test.rows, WholeInterval{1, 10'000'000}, "Exactly so many; the number is public.");
  v("sigma", sigma, kSigmas,
    "Noise multiplier of each trial's number of correctly classified test records, which is not opened; "
    "charged to the "
    "test records by the theorem.");
  evaluation.sigma = sigma;
  s = evaluation;
}

void TuneFields(FieldVisitor& v, TuneSettings& s) {
  const std::vector<double> none;
  v("learning_rate", s.grid.learning_rates,
    Numbers{1e-6, kLargestRate, "an array of numbers from 0.000001 to 1000000"}, Default(none),
    "Values that trials take in place of `training.learning_rate`; none: that one. Every combination of "
    "these keys' "
    "values is a trial.");
  v("clip", s.grid.clips, Numbers{1e-6, kLargestClip, "an array of numbers from 0.000001 to 1024"},
    Default(none), "In place of `privacy.clip`.");
  v("momentum", s.grid.momenta, Numbers{0, 0.999, "an array of numbers from 0 to 0.999"}, Default(none),
    "In place of `training.momentum`.");
  v("steps", s.grid.steps, Wholes{{1, ml::kLargestSteps}, "an array of numbers of steps"},
    Default(std::vector<std::int64_t>{}), "In place of `training.steps`.");
  v("repeats", s.repeats, WholeInterval{1, dp::kMaxTrials}, Default(std::int64_t{1}),
    "Trials with each combination; 2 to 64 trials in all.");
  v("competing", s.competing, Interval{.least = 1.0, .most = double{dp::kMaxTrials}},
    Default(std::max(kLeastCompeting, static_cast<double>(CountTrials(s)) / kShareOfTrials))
        .Said("a third of all trials, at least two"),
    "How many of the trials compete on average, from 1 to all of them; nobody learns how many do, or which. "
    "More find "
    "better settings and cost more. If it is the number of trials, all compete always, and all are charged.");
}

void CheckTrials(const TuneSettings& s, const Section& document) {
  const auto tune = document.Table("tune");
  const auto trials = CountTrials(s);
  if (trials < 2 || trials > dp::kMaxTrials)
    tune.Fail("repeats", fmt::format("found {} trials in all, expected 2 to {}", trials, dp::kMaxTrials));
  std::int64_t steps = 0;
  for (const auto& trial : TrialsOf(s)) steps += trial.training.steps;
  if (steps > ml::kLargestSteps)
    tune.Fail("steps",
              fmt::format("found {} steps of all trials, expected at most {}", steps, ml::kLargestSteps));
  if (s.competing > static_cast<double>(trials))
    tune.Refuse("competing", fmt::format("a number from 1 to {}, that of all trials", trials));
}

/// What no trial can have: what opens a number on the way, and what a tuning has no use or no proof for.
void CheckTraining(const TuneSettings& s, const Section& document) {
  const auto privacy = document.Table("privacy");
  const auto data = document.Table("data");
  if (s.data.vertical)
    data.Refuse("partition", "\"horizontal\" in a tuning: no party holds whole test records");
  if (s.data.target)
    document.Fail("data.target",
                  "not in a tuning: trials are compared by records that they classify correctly");
  if (s.privacy.sampling != (s.store.on ? ml::Sampling::kFull : ml::Sampling::kOwnerPoisson))
    privacy.Refuse("sampling",
                   s.store.on ? "\"full\" in a tuning on deposits" : "\"owner-poisson\" in a tuning");
  if (s.privacy.accountant != dp::AccountantKind::kRdp)
    privacy.Refuse("accountant", "\"rdp\" in a tuning, whose theorem is of Renyi curves");
  if (s.privacy.adaptive_clip)
    privacy.Refuse("clip", "a number in a tuning: every trial would open counts of its own");
  if (s.privacy.groups())
    privacy.Refuse("unit", "\"record\" in a tuning: counts of test records are charged to single ones");
  if (s.model.class_weights.balanced)
    document.Table("model").Refuse("class_weights",
                                   "numbers in a tuning: every trial would open counts of its own");
  if (s.training.checkpoint_every > 0)
    document.Table("training")
        .Refuse("checkpoint_every",
                "0 in a tuning: a run that went on without the number of trials that compete would "
                "be a second tuning");
}

/// The values, or the one of the training where there are none.
template <typename T>
std::vector<T> OrOne(const std::vector<T>& values, T one) {
  return values.empty() ? std::vector<T>{one} : values;
}

}  // namespace

void Fields(FieldVisitor& v, TuneSettings& s) {
  TypeFields(v, "tune");
  RecordFields(v, s, 16, RecordUse::kCompared, RecordSources::kFilesOrStore);
  TrainingTables(v, s);
  v.Table("evaluation",
          "The test records by which trials are compared, of one party, while all is in shares.",
          [&] { EvaluationFields(v, s.evaluation); });
  v.Table("tune", "What the trials differ by.", [&] { TuneFields(v, s); });
  ReleaseFields(v, "Who gets the best trial's model.", s.release.to, false);
  v.Table("local", "How `local` cuts the data. Not hashed.", s.local);
  v.Check([&](const Section& document) {
    CheckTraining(s, document);
    CheckTrials(s, document);
    for (const auto& trial : TrialsOf(s)) CheckJobRules(trial, document);
  });
}

std::int64_t CountTrials(const TuneSettings& s) {
  std::int64_t trials = s.repeats;
  for (const auto values :
       {s.grid.learning_rates.size(), s.grid.clips.size(), s.grid.momenta.size(), s.grid.steps.size()})
    trials = std::min<std::int64_t>(
        trials * static_cast<std::int64_t>(std::clamp<std::size_t>(values, 1, 1000)), 1'000'000);
  return trials;
}

std::vector<DpsgdSettings> TrialsOf(const TuneSettings& s) {
  std::vector<DpsgdSettings> trials;
  DpsgdSettings trial = s;
  trial.evaluation.reset();
  trial.release.to = {};
  for (std::int64_t repeat = 0; repeat < s.repeats; ++repeat) {
    for (const double rate : OrOne(s.grid.learning_rates, s.training.learning_rate)) {
      for (const double clip : OrOne(s.grid.clips, s.privacy.clip)) {
        for (const double momentum : OrOne(s.grid.momenta, s.training.momentum)) {
          for (const std::int64_t steps : OrOne(s.grid.steps, s.training.steps)) {
            trial.training.learning_rate = rate;
            trial.privacy.clip = clip;
            trial.training.momentum = momentum;
            trial.training.steps = steps;
            trials.push_back(trial);
          }
        }
      }
    }
  }
  return trials;
}

ml::TrialSelection SelectionOf(const TuneSettings& s) {
  return {.test = s.evaluation->test,
          .sigma = *s.evaluation->sigma,
          .weights = dp::TrialLaw(CountTrials(s), s.competing)};
}

}  // namespace trefoil::jobs

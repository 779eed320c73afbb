#include "jobs/tune/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/secrets/random.h"
#include "dp/accounting/calibration.h"
#include "dp/laws/trial_law.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "dp/record/event_json.h"
#include "dp/record/json_number.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_records.h"
#include "jobs/dpsgd/held_out_files.h"
#include "jobs/dpsgd/settings/needs.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/records/record_fields.h"
#include "jobs/same_noise.h"
#include "jobs/tune/settings.h"
#include "ml/batches/deposited_rows.h"
#include "ml/on_shares/best_trial.h"
#include "ml/on_shares/held_out.h"
#include "ml/plan/run_cost.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/catalogue/catalogue.h"

namespace trefoil::jobs {
namespace {

/// Events of trials that are charged alike stand together.
void AddTrial(dp::Tuning& tuning, const std::vector<dp::RecordedEvent>& events) {
  const auto text = [](const std::vector<dp::RecordedEvent>& some) {
    std::string all;
    for (const auto& event : some) all += dp::EventToJson(event).dump();
    return all;
  };
  for (auto& alike : tuning.trials) {
    if (text(alike.events) == text(events)) return static_cast<void>(++alike.count);
  }
  tuning.trials.push_back({.count = 1, .events = events});
}

ml::RunCost Sum(ml::RunCost cost, const ml::RunCost& more) {
  cost.rounds += more.rounds;
  for (std::size_t party = 0; party < cost.bytes_sent.size(); ++party)
    cost.bytes_sent.at(party) += more.bytes_sent.at(party);
  return cost;
}

class TuneJob final : public Job {
 public:
  explicit TuneJob(TuneSettings job) : job_(std::move(job)), selection_(SelectionOf(job_)) {
    for (const auto& trial : TrialsOf(job_)) trials_.push_back(SettingsOf(trial));
  }

  [[nodiscard]] const char* type() const override { return "tune"; }
  [[nodiscard]] const std::string& name() const override { return job_.name; }
  [[nodiscard]] double delta() const override { return job_.privacy.delta; }
  [[nodiscard]] dp::AccountantKind accountant() const override { return job_.privacy.accountant; }
  [[nodiscard]] const std::vector<int>& release_to() const override { return job_.release.to; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job_); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job_); }
  [[nodiscard]] std::string Title() const override;

  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override {
    return {EventAt(StepPlans(), Sigma())};
  }
  /// Where noise drowns every trial.
  [[nodiscard]] std::vector<std::string> Advice() const override;
  [[nodiscard]] std::optional<std::string> TestsUncovered(int party) const override {
    return HoldsTest(job_, party) ? std::optional(std::string()) : std::nullopt;
  }

  [[nodiscard]] JobPlan Plan(const std::optional<protocols::Link>& link) const override;
  [[nodiscard]] JobSteps Steps() const override { return {.count = AllSteps()}; }
  [[nodiscard]] std::string NoResume() const override {
    return "found a job without checkpoints, as a tuning that goes on without the number of trials that "
           "compete "
           "would be a second one: start it anew, which is charged anew";
  }
  [[nodiscard]] const RecordSchema* Records() const override { return &job_; }
  [[nodiscard]] std::optional<ModelSchema> Model() const override { return ModelSchemaOf(Trained()); }

  void TakeRecordsOf(SharedRecords& records) override { records_ = &records; }
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  [[nodiscard]] std::vector<JobInput> Inputs(const PartyFile& party, const std::string& party_file,
                                             const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  /// The training as it stands, without what its trials differ by.
  [[nodiscard]] DpsgdSettings Trained() const {
    DpsgdSettings trained = job_;
    trained.evaluation.reset();
    return trained;
  }
  [[nodiscard]] int AllSteps() const;
  [[nodiscard]] double Sigma() const;
  [[nodiscard]] dp::Tuning EventAt(const std::vector<ml::StepPlan>& plans, double sigma) const;
  [[nodiscard]] std::vector<ml::StepPlan> StepPlans() const;
  [[nodiscard]] std::vector<ml::TrainingSettings> NoisyTrials(double sigma) const;
  [[nodiscard]] ml::StepPlan ReleasedPlan() const;
  [[nodiscard]] mpc::Cost ChoiceCost() const;
  [[nodiscard]] double KeptRows() const;
  [[nodiscard]] PlannedRun PlanOf(protocols::Form form, const std::optional<protocols::Link>& link) const;
  [[nodiscard]] std::vector<mpc::ArithShare> TrainAll(mpc::Context& party, Output& output,
                                                      const std::vector<dp::RecordedEvent>& events,
                                                      const SharedRecords::Checked& deposits) const;
  void AddTestEpsilons(const std::vector<dp::RecordedEvent>& events, nlohmann::ordered_json& json) const;
  [[nodiscard]] nlohmann::ordered_json Summary(const std::vector<dp::RecordedEvent>& events) const;

  TuneSettings job_;
  ml::TrialSelection selection_;
  std::vector<ml::TrainingSettings> trials_{};  ///< without noise multipliers
  mutable std::optional<double> sigma_;         // once it is asked for: calibration takes its time
  SharedRecords* records_ = nullptr;            ///< data.source "store": after TakeRecordsOf
  ml::OwnRecords own_;                          ///< after Inputs, as below
  ml::HeldOutRecords held_out_;
};

int TuneJob::AllSteps() const {
  int steps = 0;
  for (const auto& trial : trials_) steps += trial.steps;
  return steps;
}

std::string TuneJob::Title() const {
  return fmt::format("the best of {} trials, {:.4g} of them competing on average, {} steps in all, sigma {}",
                     trials_.size(), dp::MeanTrials(selection_.weights), AllSteps(), MultiplierText(Sigma()));
}

std::vector<std::string> TuneJob::Advice() const {
  std::vector<std::string> lines;
  for (const auto& trial : trials_) {
    lines = NoiseAdvice(trial, Sigma(), TotalRows(job_.data));
    if (lines.empty()) return {};
  }
  return lines;
}

std::vector<ml::StepPlan> TuneJob::StepPlans() const {
  std::vector<ml::StepPlan> plans;
  for (const auto& trial : trials_) {
    ml::CheckRowUnits(trial);
    plans.push_back(ml::MakeStepPlan(trial));
  }
  return plans;
}

/// The trainings as they run, whose widths and step sizes follow from their noise.
std::vector<ml::TrainingSettings> TuneJob::NoisyTrials(double sigma) const {
  auto trials = trials_;
  for (auto& trial : trials) trial.sigma = sigma;
  return trials;
}

/// Of every trial's model, as it is released.
ml::StepPlan TuneJob::ReleasedPlan() const {
  auto settings = trials_.front();
  settings.release_to = job_.release.to;
  return ml::MakeStepPlan(settings);
}

dp::Tuning TuneJob::EventAt(const std::vector<ml::StepPlan>& plans, double sigma) const {
  dp::Tuning tuning{.trials = {}, .weights = selection_.weights};
  for (const auto& plan : plans)
    AddTrial(tuning,
             {ml::EventOf(plan, sigma, plan.settings.steps, 0), ml::ScoreEvent(plan, selection_.sigma)});
  return tuning;
}

double TuneJob::Sigma() const {
  if (sigma_) return *sigma_;
  const auto& privacy = job_.privacy;
  const auto plans = StepPlans();
  double sigma = ml::OnSigmaLattice(privacy.sigma.value_or(1));
  if (privacy.epsilon) {
    // Says which limit is too small where the cut batches of all trials alone would eat the target's delta.
    const auto all = ml::EventOf(plans.front(), 1, AllSteps(), 0);
    (void)dp::RemainingDelta(delta(), AllSteps(), all.sampling_rate, all.limits);
    sigma = ml::OnSigmaLattice(dp::SmallestNoiseMultiplier(*privacy.epsilon, [&](double multiplier) {
      const dp::RecordedEvent event = EventAt(plans, ml::OnSigmaLattice(multiplier));
      dp::AnyAccountant accountant(privacy.accountant);
      accountant.Add(privacy.against == ml::Adversary::kInsider ? dp::InsiderEvents(event)
                                                                : dp::OutsiderEvents(event));
      return accountant.Epsilon(privacy.delta).epsilon;
    }));
  }
  // Refuses noise that is too narrow for a lattice, and ranges that leave the ring.
  for (const auto& trial : NoisyTrials(sigma)) (void)ml::ChooseSigma(ml::MakeStepPlan(trial), 0, {});
  sigma_ = sigma;
  return sigma;
}

/// Of all that follows the last trial.
mpc::Cost TuneJob::ChoiceCost() const {
  const auto plan = ReleasedPlan();
  return ThenUnturned(Then(ml::BestTrialCost(plan, selection_), protocols::BarrierCost()),
                      protocols::RevealToEachCost(job_.release.to, ml::ShapeOfWeights(plan).weights()));
}

PlannedRun TuneJob::PlanOf(protocols::Form form, const std::optional<protocols::Link>& link) const {
  const auto choice = ChoiceCost();
  ml::RunCost cost{.rounds = choice.rounds(), .bytes_sent = choice.bytes_sent()};
  for (std::size_t party = 0; party < net::kParties; ++party)
    cost.bytes_sent.at(party) += choice.bytes_offline().at(party);
  double seconds = link ? protocols::ExpectedSeconds(choice, 0, *link) : 0;
  const auto trials = NoisyTrials(Sigma());
  ml::TrainingStart start{.before = checks().part, .deposits = checks().deposits};
  start.before.messages = Then(RequireSameNoiseCost(), start.before.messages);
  for (const auto& trial : trials) {
    cost = Sum(cost, ml::PlannedRunCost(trial, form, 1, start));
    if (link) seconds += ml::PlannedRunSeconds(trial, form, *link, 1, start);
    start.before = {};  // the first one's alone
  }
  PlannedRun run{.form = protocols::NameOf(form),
                 .cost = cost,
                 .less = "keys are agreed on once",
                 .chosen = !link || ml::PlannedForm(trials.front(), *link) == form,
                 .step = ml::PlannedStepCost(trials.front(), form)};
  if (link) run.seconds = seconds;
  return run;
}

JobPlan TuneJob::Plan(const std::optional<protocols::Link>& link) const {
  const double sigma = Sigma();
  const auto plan = ReleasedPlan();
  const auto trials = static_cast<double>(trials_.size());
  const auto trained = StepInMemory(NoisyTrials(sigma).front(), link);
  JobPlan all{.events = Events(),
              .memory = std::array<double, net::kParties>{},
              .figures = {{"trials", trials_.size()},
                          {"competing", dp::MeanTrials(selection_.weights)},
                          {"steps", AllSteps()},
                          {"sigma", sigma},
                          {"score_sigma", selection_.sigma}}};
  AddTestEpsilons(all.events, all.figures);
  for (const auto form : {protocols::Form::kLatency, protocols::Form::kBulk}) {
    if (!job_.training.comparison || *job_.training.comparison == form)
      all.forms.push_back(PlanOf(form, link));
  }
  const double models = trials * static_cast<double>(ml::ShapeOfWeights(plan).weights()) * kBytesOfShare;
  const double tests = static_cast<double>(selection_.test.rows) * static_cast<double>(job_.data.features);
  for (std::size_t party = 0; party < net::kParties; ++party) {
    all.memory->at(party) = MinMemory(job_, trained, party) + KeptRows() + 2 * models +
                            (HoldsTest(job_, static_cast<int>(party)) ? tests * sizeof(float) : 0);
  }
  all.disk.fill(trials * MinDisk(plan, false));
  return all;
}

/// Bytes of rows of deposits that are kept for the trials to come.
double TuneJob::KeptRows() const {
  if (!job_.store.on || job_.store.memory) return 0;
  const auto columns = ml::DepositedColumns(ReleasedPlan());
  return kBytesOfShare * static_cast<double>(job_.data.rows[0]) * static_cast<double>(columns);
}

std::string TuneJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job_.store, target);
  return SplitRecords(job_, job_, target);
}

std::vector<JobInput> TuneJob::Inputs(const PartyFile& party, const std::string& party_file,
                                      const Resources& resources) {
  const LoadOptions options{.threads = resources.threads, .feature_model = party.feature_model};
  const auto load_own = [this, &party, &party_file, options]() -> Loaded {
    if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
    own_ = ReadOwn(job_, party, options);
    auto warnings = OwnerWarnings(job_, party.id, own_);
    for (auto& line : RepeatedRows(job_, own_)) warnings.push_back(std::move(line));
    return {.said = fmt::format("{} rows as the job declares them", own_.rows()),
            .warnings = std::move(warnings)};
  };
  const auto load_tests = [this, &party, &party_file, options]() -> Loaded {
    held_out_ = LoadHeldOut(job_, party, party_file, options);
    return {.said = fmt::format("{} test rows as the job declares them", held_out_.test.y.size())};
  };
  std::vector<JobInput> inputs{job_.store.on ? DepositsOf(records_, job_)
                                             : JobInput{.what = "data", .load = load_own}};
  if (HoldsTest(job_, party.id)) inputs.push_back({.what = "test data", .load = load_tests});
  return inputs;
}

/// Every trial's model, in shares. What is reported is of the whole tuning, whose result is charged at once.
std::vector<mpc::ArithShare> TuneJob::TrainAll(mpc::Context& party, Output& output,
                                               const std::vector<dp::RecordedEvent>& events,
                                               const SharedRecords::Checked& deposits) const {
  const auto epsilons = Epsilons();
  const auto start = std::chrono::steady_clock::now();
  std::vector<mpc::ArithShare> models;
  int done = 0;
  output.Announce(events, AllSteps());
  for (const auto& trial : NoisyTrials(Sigma())) {
    const auto on_step = [&](ml::StepReport report) {
      if (done > 0 && report.step == 0) return;
      report.step += done;
      report.steps = AllSteps();
      report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (report.step > 0) {
        report.epsilon_outsider = epsilons.outsider;
        report.epsilon_insider = epsilons.insider;
      }
      output.Step(report);
    };
    const auto trained =
        ml::Train(party, trial, own_, {.on_step = on_step, .on_record = [](const dp::TrainingRecord&) {}}, {},
                  {}, deposits.rows, deposits.batch);
    models.push_back(trained.share->ring());
    done += trial.steps;
  }
  return models;
}

void TuneJob::AddTestEpsilons(const std::vector<dp::RecordedEvent>& events,
                              nlohmann::ordered_json& json) const {
  const auto tests = dp::TestSetEpsilons({.job_hash = {}, .run_id = {}, .events = events}, delta());
  json["test_epsilon_outsider"] = dp::NumberOrNull(tests.outsider);
  json["test_epsilon_insider"] = dp::NumberOrNull(tests.insider);
}

nlohmann::ordered_json TuneJob::Summary(const std::vector<dp::RecordedEvent>& events) const {
  nlohmann::ordered_json summary{{"trials", trials_.size()},
                                 {"competing", dp::MeanTrials(selection_.weights)},
                                 {"steps", AllSteps()},
                                 {"sigma", Sigma()},
                                 {"test_records", selection_.test.rows},
                                 {"score_sigma", selection_.sigma}};
  AddTestEpsilons(events, summary);
  return summary;
}

JobResult TuneJob::Run(mpc::Context& party, Output& output) {
  (void)output.Resume(party);  // opens the progress; there is nothing to go on from
  const auto events = Events();
  RequireSameNoise(party, events, {});  // weights of how many compete are of logarithms, too
  ml::CheckRecords(selection_.test, held_out_.test, party.self(), "evaluation", "evaluation.rows");
  SharedRecords::Checked deposits;
  if (job_.store.on) deposits = TakeDeposits(party, *records_, output, events);
  output.Reserve(events, {});
  const auto models = TrainAll(party, output, events, deposits);
  const auto plan = ReleasedPlan();
  const auto best =
      ml::BestTrial(party, plan, selection_, models, held_out_.test, RandomStream::FromSystem());
  output.Settle(events);
  protocols::Barrier(party);  // as Output::Settle wants
  JobResult result{.summary = Summary(events)};
  if (job_.store.on) result.summary["deposits"] = std::move(deposits.summary);
  result.model = ml::ReleaseModel(party, plan, {best, plan.settings.fraction_bits});
  if (result.model && !job_.store.on) {
    const double decision = ml::LogitAt(plan.settings.loss, job_.model.threshold);
    result.owner_lines = [this, model = *result.model, decision] {
      return OwnerLines{.warnings = OneClassWarning(job_, model, {&own_, 1}, kWeighClasses, decision)};
    };
  }
  return result;
}

std::unique_ptr<Job> ReadTune(const toml::table& root, const std::string& file) {
  TuneSettings job;
  job.type = "tune";
  ReadFields(root, file, job);
  return std::make_unique<TuneJob>(std::move(job));
}

}  // namespace

const JobType kTuneType{"tune", ReadTune, SchemaOf<TuneSettings>};

}  // namespace trefoil::jobs

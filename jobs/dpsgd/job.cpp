#include "jobs/dpsgd/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset/data_hash.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_records.h"
#include "jobs/dpsgd/canaries.h"
#include "jobs/dpsgd/class_weights.h"
#include "jobs/dpsgd/deposited_batches.h"
#include "jobs/dpsgd/evaluation_summary.h"
#include "jobs/dpsgd/held_out_files.h"
#include "jobs/dpsgd/model_warnings.h"
#include "jobs/dpsgd/ranges.h"
#include "jobs/dpsgd/settings/draft.h"
#include "jobs/dpsgd/settings/needs.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/gaussian_target.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/same_noise.h"
#include "ml/on_shares/evaluation.h"
#include "ml/plan/step_privacy.h"
#include "ml/ranks/serve_steps.h"
#include "ml/records.h"
#include "protocols/catalogue/catalogue.h"

namespace trefoil::jobs {
namespace {

/// In the units of plan's --rtt-ms and --mbit, and how much longer hashing takes than a plan has it.
std::string LinkLine(const protocols::Link& link, protocols::Form form) {
  return fmt::format(
      "links: round trip {:.2f} ms, {:.0f} Mbit/s, hashing {:.2f} times as long, as measured; "
      "comparisons in {} form",
      2e3 * link.message_seconds, 8e-6 * link.bytes_per_second, link.slowness, protocols::NameOf(form));
}

class DpsgdJob : public Job {
 public:
  explicit DpsgdJob(DpsgdSettings job) : job_(std::move(job)), settings_(SettingsOf(job_)) {
    CompleteBatches(job_);
    if (!ReadsTwice()) return;
    cells_ = mpc::RingMatrix::Zero(CountedCells(job_), 1);
    moments_ = mpc::RingMatrix::Zero(settings_.standardisation->coordinates, 1);
  }

  [[nodiscard]] const char* type() const override { return "dpsgd"; }
  [[nodiscard]] const std::string& name() const override { return job_.name; }
  [[nodiscard]] double delta() const override { return job_.privacy.delta; }
  [[nodiscard]] dp::AccountantKind accountant() const override { return job_.privacy.accountant; }
  [[nodiscard]] const std::vector<int>& release_to() const override { return job_.release.to; }
  [[nodiscard]] std::string Json() const override { return DpsgdJson(job_); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job_); }
  [[nodiscard]] std::string Title() const override {
    return fmt::format("{} steps, sigma {}", Settings().steps, MultiplierText(Privacy().sigma));
  }

  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return Privacy().events; }
  [[nodiscard]] dp::EpsilonPair Epsilons() const override { return EpsilonsOf(Privacy()); }
  [[nodiscard]] std::vector<std::string> Warnings() const override { return PrivacyWarnings(job_); }
  [[nodiscard]] ShownResults Shown(const std::filesystem::path& folder) const override;
  [[nodiscard]] std::vector<std::string> Advice() const override {
    return TrainingAdvice(job_, Settings(), Privacy().sigma);
  }
  [[nodiscard]] dp::PrivacyUnit Unit() const override { return PromiseOf(job_).unit; }
  [[nodiscard]] std::string Uncovered() const override;
  [[nodiscard]] std::optional<std::string> TestsUncovered(int party) const override;
  [[nodiscard]] std::string ValidationUncovered(int party) const override;

  [[nodiscard]] JobPlan Plan(const std::optional<protocols::Link>& link) const override;
  [[nodiscard]] JobSteps Steps() const override;
  [[nodiscard]] std::string NoResume() const override;
  [[nodiscard]] CheckpointShape ShapeOfCheckpoint() const override;
  [[nodiscard]] dp::EpsilonPair ResumedEpsilons(const ml::SessionHistory& earlier, bool from_start,
                                                int first) const override {
    return EpsilonsOf(ml::MakePlan(Settings(), earlier, from_start, first));
  }
  [[nodiscard]] const RecordSchema* Records() const override { return &job_; }
  [[nodiscard]] std::optional<ModelSchema> Model() const override {
    auto released = standardised_.value_or(job_);
    released.model.threshold = chosen_threshold_.value_or(job_.model.threshold);
    return ModelSchemaOf(released);
  }

  void UseRanks(int ranks) override {
    ml::CheckRanks(Settings(), ranks);
    rank_count_ = ranks;
  }
  void TakeRanks(mpc::Ranks& ranks) override {
    Require(ranks.count() == rank_count_, "DpsgdJob::TakeRanks: as many as the job is to be run by");
    ranks_ = &ranks;
  }
  void TakeRecordsOf(SharedRecords& records) override { records_ = &records; }
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  [[nodiscard]] std::vector<JobInput> Inputs(const PartyFile& party, const std::string& party_file,
                                             const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;
  void Serve(mpc::Context& party) override { ml::ServeSteps(party, Settings(), *ranks_); }
  [[nodiscard]] std::string ResultLine(const nlohmann::ordered_json& summary) const override {
    return EvaluationLine(job_, summary.value("evaluation", nlohmann::ordered_json()));
  }
  [[nodiscard]] std::unique_ptr<JobWithCanaries> WithCanaries(std::int64_t count) const override {
    return MakeJobWithCanaries(job_, count);
  }

 private:
  [[nodiscard]] static dp::EpsilonPair EpsilonsOf(const ml::PrivacyPlan& plan) {
    return {.outsider = plan.epsilon_outsider, .insider = plan.epsilon_insider, .error = plan.epsilon_error};
  }
  [[nodiscard]] const ml::TrainingSettings& Settings() const;
  [[nodiscard]] const ml::PrivacyPlan& Privacy() const;
  [[nodiscard]] ml::TrainingHooks HooksOf(Output& output);
  [[nodiscard]] bool ReadsTwice() const { return job_.features.standardise.on && !IsOfExtracted(job_); }
  [[nodiscard]] DpsgdSettings OwnForm() const;
  [[nodiscard]] DpsgdSettings OpenStandardisation(mpc::Context& party, Output& output);
  [[nodiscard]] Loaded LoadOwn(const PartyFile& party, const std::string& party_file,
                               const LoadOptions& options);

  DpsgdSettings job_;
  ml::TrainingSettings settings_;                        // as the job has them
  mutable std::optional<ml::TrainingSettings> trained_;  // Settings(), once they are asked for
  mutable std::optional<ml::PrivacyPlan> privacy_;       // once it is asked for: calibration takes its time
  int rank_count_ = 1;                                   ///< machines of a party
  mpc::Ranks* ranks_ = nullptr;                          ///< after TakeRanks
  SharedRecords* records_ = nullptr;                     ///< data.source "store": after TakeRecordsOf
  ml::OwnRecords own_;                                   ///< after Inputs, as below
  ml::HeldOutRecords held_out_;
  std::optional<double> chosen_threshold_;  ///< after Run, where the evaluation chose one

  // With features.standardise: what this party adds to the sum, and how its records get what that gave: of
  // columns they are read again, extracted rows are moved where they are.
  data::SameData same_data_;  ///< of what is read again
  mpc::RingMatrix cells_;     ///< what it adds to the counts by which ranges are found, of columns
  mpc::RingMatrix moments_;   ///< with such ranges at first by its own counts, then by those of all
  std::function<mpc::RingMatrix(const DpsgdSettings& ranged)> sum_again_;
  std::function<void(const DpsgdSettings& standardised)> standardise_;
  std::optional<FoundRanges> ranges_;          ///< after the counts were opened
  std::optional<DpsgdSettings> standardised_;  ///< after the sum was opened
};

/// Those of all that is planned and run.
const ml::TrainingSettings& DpsgdJob::Settings() const {
  if (!trained_) trained_ = ml::WithCalibratedSigma(settings_);
  return *trained_;
}

const ml::PrivacyPlan& DpsgdJob::Privacy() const {
  if (!privacy_) privacy_ = ml::MakePlan(Settings());
  return *privacy_;
}

std::string DpsgdJob::Uncovered() const {
  return job_.selects(ml::Selection::kAsPublished) ? "initialisation.selection: found \"as-published\"" : "";
}

std::optional<std::string> DpsgdJob::TestsUncovered(int party) const {
  if (!HoldsTest(job_, party)) return {};
  return job_.evaluation->sigma ? "" : "evaluation.sigma: found none";
}

std::string DpsgdJob::ValidationUncovered(int party) const {
  return HoldsValidation(job_, party) ? "initialisation.selection: found \"public-validation\"" : "";
}

JobPlan DpsgdJob::Plan(const std::optional<protocols::Link>& link) const {
  const auto& privacy = Privacy();
  const auto plan = StepInMemory(Settings(), link, rank_count_);
  JobPlan all{.events = privacy.events,
              .memory = std::array<double, net::kParties>{},
              .figures = {{"steps", Settings().steps},
                          {"sigma", privacy.sigma},
                          {"sensitivity", privacy.sensitivity},
                          {"sampling_rate", privacy.sampling_rate},
                          {"row_fraction_bits", ml::RowFractionBits(Settings())},
                          {"row_bits", plan.row_bits}}};
  all.sizes = fmt::format("A number of a row has {} fraction bits and takes {} bytes",
                          ml::RowFractionBits(Settings()), plan.row_bits / 8);
  if (Settings().error_fraction_bits) {
    all.figures["error_fraction_bits"] = *Settings().error_fraction_bits;
    all.sizes += fmt::format(", a clipped error {} fraction bits", *Settings().error_fraction_bits);
  }
  if (Settings().adaptive) {
    all.figures["gradient_sigma"] = ml::GradientSigma(Settings(), privacy.sigma);
    all.figures["clip_count_sigma"] = ml::ClipCountMultiplier(Settings()) / 2;
  }
  if (Settings().standardisation) all.figures["standardise_sigma"] = Settings().standardisation->sigma;
  if (Settings().ranges) all.figures["range_sigma"] = Settings().ranges->sigma;
  ml::TrainingStart start{.before = checks().part, .deposits = checks().deposits};
  if (job_.store.on) start.before.messages = Then(RequireSameNoiseCost(), start.before.messages);
  std::optional<protocols::Form> chosen;
  if (link) chosen = ml::PlannedForm(Settings(), *link, rank_count_);
  for (const auto form : {protocols::Form::kLatency, protocols::Form::kBulk}) {
    if (Settings().comparison && *Settings().comparison != form) continue;
    PlannedRun run{.form = protocols::NameOf(form),
                   .cost = ml::PlannedRunCost(Settings(), form, rank_count_, start),
                   .chosen = !chosen || *chosen == form,
                   .step = ml::PlannedStepCost(Settings(), form, rank_count_)};
    if (link) run.seconds = ml::PlannedRunSeconds(Settings(), form, *link, rank_count_, start);
    all.forms.push_back(std::move(run));
  }
  for (std::size_t party = 0; party < net::kParties; ++party)
    all.memory->at(party) = MinMemory(job_, plan, party, rank_count_);
  all.disk.fill(MinDisk(plan, job_.training.checkpoint_every > 0));
  return all;
}

JobSteps DpsgdJob::Steps() const {
  return {.count = Settings().steps,
          .checkpoint_every = job_.training.checkpoint_every,
          .lost_max = job_.training.lost_steps_max,
          .charged_before = Settings().balance_sigma || Settings().initialisation,
          .charged_after = job_.evaluation && job_.evaluation->sigma};
}

ShownResults DpsgdJob::Shown(const std::filesystem::path& folder) const {
  const auto file = folder / "summary.json";
  const auto text = ReadTextFile(file, "a run's summary", kLargestOwnFile);
  const auto summary = nlohmann::ordered_json::parse(text, nullptr, false);
  try {
    const nlohmann::ordered_json::json_pointer evaluation("/results/dpsgd/evaluation");
    if (!summary.contains(evaluation)) return {};
    return ShownEvaluation(job_, summary.at(evaluation));
  } catch (const nlohmann::json::exception&) {
    throw DataError(file.string() + ": results.dpsgd.evaluation: found other members than a training writes");
  }
}

std::string DpsgdJob::NoResume() const {
  return job_.training.checkpoint_every > 0
             ? ""
             : "found a job without checkpoints, expected one with training.checkpoint_every above 0";
}

CheckpointShape DpsgdJob::ShapeOfCheckpoint() const {
  return {.weights = ml::ShapeOfWeights(ml::MakeStepPlan(Settings())),
          .fraction_bits = Settings().fraction_bits,
          .coins = Settings().sampling == ml::Sampling::kPublic,
          .joint_slots = job_.data.vertical,
          .counts = ml::EvaluationNumbers(Settings()),
          .class_counts = Settings().balance_sigma ? static_cast<std::size_t>(Settings().classes) : 0,
          .adaptive_clip = Settings().adaptive.has_value()};
}

std::string DpsgdJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job_.store, target);
  return SplitRecords(job_, OwnForm(), target);
}

/// The job as this party reads records before any sum is opened: where it reads them again by its own ranges
/// and moments, which nobody else learns, or before these are known by declared ranges alone.
DpsgdSettings DpsgdJob::OwnForm() const {
  return ReadsTwice() ? Standardised(WithRanges(job_, cells_, 0).job, moments_, 0) : job_;
}

/// What the three open before the training, each noted where it has opened: the run may break off.
DpsgdSettings DpsgdJob::OpenStandardisation(mpc::Context& party, Output& output) {
  if (Settings().ranges) {
    ranges_ = OpenRanges(party, job_, *Settings().ranges, cells_, RandomStream::FromSystem());
    output.Opened(OpenedRanges(job_, *ranges_));
    moments_ = sum_again_(ranges_->job);
    same_data_.Require();
  }
  auto standardised = OpenMoments(party, ranges_ ? ranges_->job : job_, *Settings().standardisation, moments_,
                                  RandomStream::FromSystem());
  output.Opened(OpenedMoments(standardised));
  return standardised;
}

Loaded DpsgdJob::LoadOwn(const PartyFile& party, const std::string& party_file, const LoadOptions& options) {
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  if (ReadsTwice()) {
    RequireFiles(party.data, party_file);
    same_data_.Add(party.data);
    cells_ = CountCells(job_, party.data, party.id);
    moments_ = SumOfMoments(WithRanges(job_, cells_, 0).job, party.data, party.id);
    sum_again_ = [party](const DpsgdSettings& ranged) { return SumOfMoments(ranged, party.data, party.id); };
    standardise_ = [this, party, party_file, options](const DpsgdSettings& standardised) {
      own_ = ReadOwn(standardised, party, options);
      held_out_ = LoadHeldOut(standardised, party, party_file, options);
      same_data_.Require();
    };
  }
  auto own = ReadOwn(OwnForm(), party, options);
  same_data_.Require();
  Loaded loaded{.said = fmt::format("{} rows as the job declares them", own.rows()),
                .warnings = OwnerWarnings(job_, party.id, own)};
  for (auto& line : RepeatedRows(job_, own)) loaded.warnings.push_back(std::move(line));
  if (ReadsTwice()) return loaded;  // none is there to be trained on before it is read again
  own_ = std::move(own);
  if (!job_.features.standardise.on) return loaded;
  moments_ = SumOfRows(own_.x, job_.features.row_norm);
  standardise_ = [this](const DpsgdSettings& standardised) {
    for (auto* rows : {&own_.x, &held_out_.test.x, &held_out_.validation.x})
      if (rows->rows() > 0) SubtractMeans(standardised.features, *rows);
  };
  return loaded;
}

std::vector<JobInput> DpsgdJob::Inputs(const PartyFile& party, const std::string& party_file,
                                       const Resources& resources) {
  const LoadOptions options{.threads = resources.threads, .feature_model = party.feature_model};
  const auto load_held_out = [this, &party, &party_file, options]() -> Loaded {
    if (ReadsTwice()) {
      if (HoldsTest(job_, party.id)) same_data_.Add(party.evaluation);
      if (HoldsValidation(job_, party.id)) same_data_.Add(party.validation);
    }
    held_out_ = LoadHeldOut(OwnForm(), party, party_file, options);
    return {.said = fmt::format("{} test and {} validation rows as the job declares them",
                                held_out_.test.y.size(), held_out_.validation.y.size())};
  };
  JobInput records{.what = "data", .load = [this, &party, &party_file, options] {
                     return LoadOwn(party, party_file, options);
                   }};
  if (job_.store.on) records = DepositsOf(records_, job_);
  std::vector<JobInput> inputs{std::move(records)};
  if (HoldsTest(job_, party.id) || HoldsValidation(job_, party.id))
    inputs.push_back({.what = "test and validation data", .load = load_held_out});
  return inputs;
}

ml::TrainingHooks DpsgdJob::HooksOf(Output& output) {
  ml::TrainingHooks hooks{
      .on_step = [&](const ml::StepReport& report) { output.Step(report); },
      .on_record = [&](const dp::TrainingRecord& record) { output.Settle(record.events); },
      .on_link = [&](const protocols::Link& link, protocols::Form form) { output.Log(LinkLine(link, form)); },
      .on_plan = [&](const dp::TrainingRecord& plan,
                     const dp::TrainingRecord& before) { output.Reserve(plan.events, before.events); },
      .before_steps = [&](const dp::TrainingRecord& record,
                          int steps) { output.Announce(record.events, steps); }};
  if (Settings().standardisation) {
    hooks.before_records = [&](mpc::Context& party) {
      standardised_ = OpenStandardisation(party, output);
      standardise_(*standardised_);
    };
  }
  if (job_.training.checkpoint_every == 0) return hooks;
  hooks.before_step = [&](int step) { output.BeginStep(step); };
  hooks.before_release = [&] { output.BeginRelease(); };
  hooks.before_evaluation = [&] { output.BeginEvaluation(); };
  hooks.on_checkpoint = [&](const ml::Checkpoint& checkpoint) { output.Keep(checkpoint); };
  hooks.checkpoint_every = job_.training.checkpoint_every;
  return hooks;
}

JobResult DpsgdJob::Run(mpc::Context& party, Output& output) {
  same_data_.Require();  // before anything is charged: the peers may have been waited for since it was read
  const auto resumption = output.Resume(party);
  SharedRecords::Checked deposits;
  if (job_.store.on) {
    // Before batches are bound to this run, as a training compares its constants too late for that.
    RequireSameNoise(party, Events(), {ml::MakeStepPlan(Settings()).lattice_sensitivity});
    const int first = resumption.from ? static_cast<int>(resumption.from->state.step) : 0;
    const auto plan = resumption.earlier.empty()
                          ? Events()  // known already
                          : ml::MakePlan(Settings(), resumption.earlier, !resumption.from, first).events;
    deposits = TakeDeposits(party, *records_, output, plan);
  }
  auto trained = ml::Train(party, Settings(), own_, HooksOf(output), held_out_, resumption,
                           std::move(deposits.rows), deposits.batch, ranks_);
  const auto evaluation = EvaluationJson(job_, trained);
  if (job_.evaluation && job_.evaluation->choose_threshold) chosen_threshold_ = trained.evaluation->threshold;
  JobResult result{.summary = {{"steps", Settings().steps},
                               {"sigma", trained.plan.sigma},
                               {"sensitivity", trained.plan.sensitivity},
                               {"row_bits", ml::MakeStepPlan(Settings()).row_bits},
                               {"accuracy", AccuracyOf(evaluation)},
                               {"evaluation", evaluation}}};
  if (job_.store.on) result.summary["deposits"] = std::move(deposits.summary);
  if (job_.data.target) {
    result.summary.erase("accuracy");
    result.summary.update(FiguresJson({}));
  }
  if (standardised_)
    result.summary["standardisation"] =
        StandardisationJson(*standardised_, Settings().standardisation->sigma);
  if (ranges_) AddRanges(job_, *ranges_, Settings().ranges->sigma, result);
  if (job_.model.class_weights.balanced) AddClasses(trained, Settings(), job_.privacy.delta, result);
  if (trained.last_clip) {
    result.summary["last_clip"] = *trained.last_clip;
    result.values.push_back({.name = "last_clip", .value = *trained.last_clip});
  }
  if (trained.evaluation) AddOpened(*trained.evaluation, result.values);
  if (trained.model || ranges_)
    result.owner_lines = [this, model = trained.model, weights = trained.class_weights] {
      const double threshold = chosen_threshold_.value_or(job_.model.threshold);
      auto lines = model ? ModelWarnings(job_, *model, own_, weights, threshold) : OwnerLines();
      if (ranges_) AddRangeLines(job_, *ranges_, cells_, lines);
      return lines;
    };
  result.model = std::move(trained.model);
  result.share = std::move(trained.share);
  return result;
}

std::unique_ptr<Job> ReadDpsgd(const toml::table& root, const std::string& file) {
  return MakeDpsgdJob(ReadDpsgdTable(root, file));
}

}  // namespace

const JobType kDpsgdType{"dpsgd", ReadDpsgd, SchemaOf<DpsgdSettings>, nullptr, DraftDpsgd};

std::unique_ptr<Job> MakeDpsgdJob(DpsgdSettings settings) {
  return std::make_unique<DpsgdJob>(std::move(settings));
}

}  // namespace trefoil::jobs

#include "jobs/predict/job.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "jobs/config/named_files.h"
#include "jobs/deposited_records.h"
#include "jobs/evaluation/predictions.h"
#include "jobs/predict/deposited_predictions.h"
#include "jobs/predict/prediction_inputs.h"
#include "jobs/predict/settings.h"
#include "jobs/predict/shared_classifier.h"
#include "jobs/statement/cost_statement.h"
#include "jobs/statement/vertical_statement.h"
#include "ml/dpsgd/dp_sgd.h"
#include "protocols/catalogue/catalogue.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

class PredictJob : public Job {
 public:
  explicit PredictJob(PredictSettings job) : job_(std::move(job)) {
    if (!job_.store.on) to_ = {job_.client};
    deposited_.store = job_.store;
  }

  [[nodiscard]] const char* type() const override { return "predict"; }
  [[nodiscard]] const std::string& name() const override { return job_.name; }
  [[nodiscard]] double delta() const override { return model_ ? model_->delta() : 0; }
  [[nodiscard]] dp::AccountantKind accountant() const override {
    return model_ ? model_->accountant() : dp::AccountantKind::kRdp;
  }
  [[nodiscard]] const std::vector<int>& release_to() const override { return to_; }
  [[nodiscard]] std::string Json() const override { return PredictJson(job_); }
  [[nodiscard]] std::string Title() const override { return PredictJobTitle(job_); }
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return {}; }
  [[nodiscard]] std::string Covered() const override {
    return "Predictions are post-processing of the training, whose epsilon covers them.";
  }
  [[nodiscard]] JobPlan Plan(const std::optional<protocols::Link>& link) const override;
  [[nodiscard]] bool NeedsModel() const override { return true; }
  void UseModelOf(const Job& made, const std::string& file) override;
  [[nodiscard]] const RecordSchema* Deposited() const override {
    return job_.store.on && schema_ ? &deposited_ : nullptr;
  }
  [[nodiscard]] bool WantsStore() const override { return job_.store.on; }
  void TakeRecordsOf(SharedRecords& records) override { deposits_ = &records; }
  void UseRanks(int ranks) override;
  void TakeRanks(mpc::Ranks& ranks) override {
    Require(ranks.count() == rank_count_, "PredictJob::TakeRanks: as many as the job is to be run by");
    ranks_ = &ranks;
  }

  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  [[nodiscard]] std::vector<JobInput> Inputs(const PartyFile& party, const std::string& party_file,
                                             const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;
  void ServeInputs(const PartyFile& /*party*/, const std::string& /*party_file*/,
                   const Resources& resources) override {
    types_ = resources.types;
  }
  void Serve(mpc::Context& party) override { ServeClassifier(party, job_, *ranks_, types_); }

 private:
  [[nodiscard]] std::vector<PlannedRun> FormsOf(const ModelSchema& model,
                                                const std::optional<protocols::Link>& link) const;
  [[nodiscard]] std::string CoveredBy() const;
  void Predict(mpc::Context& party, JobResult& result);
  void PredictDeposited(mpc::Context& party, Output& output, JobResult& result);
  void ExpectDeposits();

  PredictSettings job_;
  std::vector<int> to_;                ///< the client; nobody where owners get files
  int rank_count_ = 1;                 ///< machines of a party
  mpc::Ranks* ranks_ = nullptr;        ///< after TakeRanks
  JobTypes types_ = ShippedTypes();    ///< others after ServeInputs
  std::optional<ModelSchema> schema_;  ///< of the model, once it is known
  SharedRecords* deposits_ = nullptr;  ///< where the rows are such
  RecordSchema deposited_;             ///< what they have to be, once the model is known
  std::optional<ShareFile> model_;     ///< after Inputs, as below
  ml::OwnRecords rows_;                ///< the client's
};

/// In each form that a run may take: one, where nothing depends on it or the link is known.
std::vector<PlannedRun> PredictJob::FormsOf(const ModelSchema& model,
                                            const std::optional<protocols::Link>& link) const {
  using protocols::Form;
  const auto settings = model.classifier;
  if (!ml::IsNetwork(ml::MakeStepPlan(settings)))
    return {PlanRun(ClassifyBySharesCost(job_, model, Form::kBulk, rank_count_, checks().part), "", link)};
  std::vector<PlannedRun> runs;
  for (const auto form : {Form::kLatency, Form::kBulk}) {
    if (settings.comparison ? *settings.comparison != form
                            : link && ClassifierForm(job_, model, *link) != form)
      continue;
    runs.push_back(PlanRun(ClassifyBySharesCost(job_, model, form, rank_count_, checks().part),
                           protocols::NameOf(form), link));
  }
  return runs;
}

JobPlan PredictJob::Plan(const std::optional<protocols::Link>& link) const {
  JobPlan plan;
  plan.disk.fill(kBytesOfSmallFiles);
  if (!schema_) return plan;
  const auto cost = ClassifyBySharesCost(job_, *schema_, protocols::Form::kBulk, rank_count_);
  plan.forms = FormsOf(*schema_, link);
  plan.memory = cost.memory;
  for (std::size_t party = 0; party < net::kParties; ++party) plan.disk.at(party) += cost.results.at(party);
  return plan;
}

void PredictJob::UseRanks(int ranks) {
  if (job_.store.on && ranks > 1)
    throw ConfigError("predict.source: found \"store\", expected \"files\", with [party] ranks above 1");
  rank_count_ = ranks;
}

void PredictJob::UseModelOf(const Job& made, const std::string& file) {
  schema_ = made.Model();
  if (schema_ && made.release_to().empty()) {
    if (job_.store.on) ExpectDeposits();
    return;
  }
  const auto found = schema_ ? std::string("release.to: found parties that get the model")
                             : fmt::format("type: found \"{}\"", made.type());
  throw ConfigError(fmt::format(
      "{}: {}, expected the job of a training, an average or a transfer whose model stays in shares", file,
      found));
}

/// The parties of an earlier run: each its share, sealed with its key as it was.
std::string PredictJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job_.store, target);
  if (target.model.empty())
    throw ConfigError(
        "--model: missing, expected the run directory of a training by local whose model was released to "
        "nobody");
  if (target.data.empty()) throw ConfigError("--data: missing, expected the file with the rows to predict");
  for (auto& party : target.parties) {
    const auto folder = fs::absolute(target.model / fmt::format("party-{}", party.id));
    const auto before = ReadParty(folder / "party.toml", target.types);
    party.storage_key = before.storage_key.empty() ? before.private_key : before.storage_key;
    party.inputs["predict.share"] = folder / "out" / "model.share";
    party.feature_model = before.feature_model;
    const auto model = LoadModelShare(party, job_, "", target.types);
    if (party.id != job_.client) continue;
    party.inputs.Records("predict") = NamedFiles("--data", {fs::absolute(target.data).string()},
                                                 model.schema.records.data, data::LabelUse::kIgnored);
    (void)LoadRowsToPredict(job_, model.schema.records, party, "", 0);
  }
  return fmt::format("rows {} of party {}, by the model in {}", target.data.string(), job_.client,
                     target.model.string());
}

/// Deposits have the model's records, in the study of this job.
void PredictJob::ExpectDeposits() {
  if (schema_->records.data.vertical)
    throw ConfigError(
        "predict.source: found \"store\" and a model of a vertical partition, expected a model of whole "
        "rows");
  deposited_ = schema_->records;
  deposited_.store = job_.store;
  deposited_.data.rows = {job_.rows, 0, 0};
}

std::vector<JobInput> PredictJob::Inputs(const PartyFile& party, const std::string& party_file,
                                         const Resources& resources) {
  const auto load_model = [this, &party, &party_file, resources]() -> Loaded {
    model_ = LoadModelShare(party, job_, party_file, resources.types);
    if (job_.threshold) SetThreshold(model_->schema, *job_.threshold, "predict.threshold");
    schema_ = model_->schema;
    if (job_.store.on) ExpectDeposits();
    return {.said =
                fmt::format("{}, of run {}", party.inputs["predict.share"].string(), model_->record.run_id)};
  };
  const auto load_rows = [this, &party, &party_file, resources]() -> Loaded {
    rows_ = LoadRowsToPredict(job_, schema_->records, party, party_file, resources.threads);
    return {.said = fmt::format("{} rows as the model's job declares them", rows_.x.rows())};
  };
  std::vector<JobInput> inputs{{.what = "share of the model",
                                .mend = "name this party's model.share of that run in the party file's "
                                        "[predict], and in [storage] the key "
                                        "that it was sealed with; or bring back a copy",
                                .load = load_model}};
  if (job_.store.on) inputs.push_back(DepositsOf(deposits_, deposited_));
  if (!job_.store.on && party.id == job_.client)
    inputs.push_back({.what = "rows to predict", .load = load_rows});
  return inputs;
}

/// What the predictions cost the records that the model was trained on: nothing beyond the training.
std::string PredictJob::CoveredBy() const {
  const auto epsilons = dp::Epsilons(model_->record, delta(), accountant());
  return fmt::format(
      "predictions are post-processing of the training: its epsilon, {} at delta {}, "
      "covers them; nothing else is opened",
      EpsilonsText(epsilons.outsider, epsilons.insider, FirstOf(model_->record)), DeltaText(delta()));
}

/// What the client gets is its alone.
void PredictJob::Predict(mpc::Context& party, JobResult& result) {
  const auto predictions = ClassifyByShares(party, job_, *model_, rows_, ranks_);
  result.summary["client"] = job_.client;
  result.summary["rows"] = job_.rows;
  if (!predictions) return;
  std::vector<PredictionColumns> columns;
  if (predictions->scores) columns.push_back({.name = "score", .values = *predictions->scores});
  result.files.push_back({.name = "predictions.csv",
                          .text = PredictionsCsv(model_->schema.records, predictions->classes, columns),
                          .secret = true});
  result.lines.push_back(fmt::format("{} rows classified", predictions->classes.size()));
}

void PredictJob::PredictDeposited(mpc::Context& party, Output& output, JobResult& result) {
  auto predictions = PredictDeposits(party, job_, HashOf(*this), *model_, *deposits_, output);
  result.summary["capacity"] = job_.rows;
  result.summary["deposits"] = std::move(predictions.deposits);
  result.lines.push_back(
      fmt::format("{} rows of {} deposits classified: send each file to the owner of its "
                  "deposit",
                  predictions.rows, predictions.files.size()));
  result.files = std::move(predictions.files);
}

JobResult PredictJob::Run(mpc::Context& party, Output& output) {
  JobResult result{.summary = {{"run", job_.run}}, .lines = {CoveredBy()}};
  if (job_.store.on) {
    PredictDeposited(party, output, result);
  } else {
    Predict(party, result);
  }
  output.Cover(model_->record);
  result.summary["scores"] = job_.scores;
  result.summary["covered_by"] = CoveredBy();
  return result;
}

std::unique_ptr<Job> ReadPredict(const toml::table& root, const std::string& file) {
  return std::make_unique<PredictJob>(ReadPredictSettings(root, file));
}

}  // namespace

const JobType kPredictType{"predict", ReadPredict, SchemaOf<PredictSettings>, PredictInputs};

}  // namespace trefoil::jobs

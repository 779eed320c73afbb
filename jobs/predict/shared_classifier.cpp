#include "jobs/predict/shared_classifier.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "ml/batches/deposited_rows.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/on_deposits/deposited_prediction.h"
#include "ml/on_shares/held_out.h"
#include "ml/ranks/rank_prediction.h"
#include "ml/ranks/rank_steps.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"
#include "protocols/cost_model.h"

namespace trefoil::jobs {
namespace {

// Of predictions.csv: a row's number and label, and a logit as shortest text.
constexpr double kBytesOfALabel = 8;
constexpr double kBytesOfALogit = 16;

ml::PredictionRequest RequestOf(const PredictSettings& job) {
  return {.client = job.client, .rows = job.rows, .scores = job.scores};
}

/// Shares of two sessions of one run have the run, the job and the shape in common, but are no model.
protocols::ComparedShares ComparedModel(const ShareFile& model) {
  const auto session = model.session.empty() ? std::string("not stated") : model.session;
  return {
      .common = fmt::format("run {}\nsession {}\n{}\n{}", model.record.run_id, session, model.schema.json,
                            model.task),
      .what = "share of the model",
      .remedy = fmt::format("predict.share: found one of run {}, session {} here, expected one of the same "
                            "run and session at all three",
                            model.record.run_id, session)};
}

std::int64_t BlockRows(const PredictSettings& job) {
  return std::min<std::int64_t>(job.rows, ml::kHeldOutBlock);
}

/// Of rows that deposits have: all are held at once, as they were deposited and as they are classified.
void AddCostOfDeposits(const PredictSettings& job, const ml::StepPlan& plan, JobCost& cost) {
  cost.session.Add(ml::PredictDepositedCost(plan, {.rows = job.rows, .scores = job.scores}));
  const auto rows = static_cast<double>(job.rows);
  const auto held = static_cast<double>(ml::DepositedColumns(plan) + plan.settings.features + 1);
  const double shown = job.scores ? static_cast<double>(plan.columns) : 1;
  for (auto& memory : cost.memory) memory += kBytesOfShare * rows * (held + shown);
  cost.results.fill(kBytesOfShare * rows * shown);
}

/// What rank 0 tells the others.
struct SharedModel {
  std::string schema{};  ///< ModelSchema::json
  protocols::Form form = protocols::Form::kBulk;
};

/// Rank 0's, at all ranks.
SharedModel ToldModel(mpc::Ranks& ranks, SharedModel model) {
  std::array<std::uint64_t, 2> told{model.schema.size(), static_cast<std::uint64_t>(model.form)};
  ranks.Broadcast(std::as_writable_bytes(std::span(told)));
  model.schema.resize(told[0]);
  model.form = static_cast<protocols::Form>(told[1]);
  ranks.Broadcast(std::as_writable_bytes(std::span(model.schema)));
  return model;
}

}  // namespace

ml::StepPlan AgreeOnModel(mpc::Context& party, const PredictSettings& job, const ShareFile& model) {
  protocols::RequireSharesOfOne(party, {&model.weights.ring()}, ComparedModel(model));
  const auto form = ClassifierForm(job, model.schema, protocols::MeasureLink(party));
  return ml::MakeStepPlan(model.schema.classifier, form);
}

std::optional<ml::Predictions> ClassifyByShares(mpc::Context& party, const PredictSettings& job,
                                                const ShareFile& model, const ml::OwnRecords& own,
                                                mpc::Ranks* ranks) {
  const auto plan = AgreeOnModel(party, job, model);
  if (ranks == nullptr || ranks->count() == 1)
    return ml::PredictOnShares(party, plan, model.weights, RequestOf(job), own);
  (void)ToldModel(*ranks, {.schema = model.schema.json, .form = plan.activation.options.form});
  return ml::PredictOnRanks(party, plan, model.weights, RequestOf(job), own, *ranks);
}

void ServeClassifier(mpc::Context& party, const PredictSettings& job, mpc::Ranks& ranks, JobTypes types) {
  const auto told = ToldModel(ranks, {});
  auto schema = ParseModelSchema(told.schema, "the model of rank 0", types);
  if (job.threshold) SetThreshold(schema, *job.threshold, "predict.threshold");
  const auto plan = ml::MakeStepPlan(schema.classifier, told.form);
  protocols::RequireSameEverywhere(party, ml::LaneConstants(ml::Fingerprint(plan, 0), ranks),
                                   "constants of the model");
  (void)ml::PredictOnRanks(party, plan, {}, RequestOf(job), {}, ranks);
}

JobCost ClassifyBySharesCost(const PredictSettings& job, const ModelSchema& model, protocols::Form form,
                             int ranks, const ml::SessionPart& checks) {
  const auto plan = ml::MakeStepPlan(model.classifier, form);
  const auto request = ml::RankRequest(RequestOf(job), ranks);
  const auto rows = static_cast<double>(request.rows);
  const auto columns = static_cast<double>(plan.settings.features + 1);
  const auto weights = static_cast<double>(ShapeOfWeights(plan).weights());
  JobCost cost;
  cost.session.Add(Then(protocols::RequireSharesOfOneCost(), protocols::MeasureLinkCost()));
  cost.work = {.elements = rows * columns, .multiply_adds = 2 * rows * weights};
  const double copies = ranks > 1 ? 2 : 1;  // the model's own, and what the ranks are handed
  cost.memory.fill(kBytesOfShare * (copies * weights + static_cast<double>(BlockRows(job)) * columns));
  if (job.store.on) {
    cost.Add(checks);
    AddCostOfDeposits(job, plan, cost);
    return cost;
  }
  cost.session.Add(ml::PredictOnSharesCost(plan, request));
  const auto client = static_cast<std::size_t>(job.client);
  const auto all_rows = static_cast<double>(job.rows);
  cost.memory.at(client) += all_rows * static_cast<double>(plan.settings.features) * sizeof(float) +
                            ml::HandOutBytes(plan, RequestOf(job), ranks);
  const double logits = job.scores ? static_cast<double>(plan.columns) : 0;
  cost.results.at(client) = all_rows * (kBytesOfALabel + logits * kBytesOfALogit);
  return cost;
}

protocols::Form ClassifierForm(const PredictSettings& job, const ModelSchema& model,
                               const protocols::Link& link) {
  return ml::FasterForm(model.classifier, BlockRows(job), link);
}

}  // namespace trefoil::jobs

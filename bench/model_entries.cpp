#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/secrets/random.h"
#include "bench/entries.h"
#include "ml/batches/batch_source.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/published_clipping.h"
#include "ml/noise/noise_source.h"
#include "ml/on_shares/evaluation.h"
#include "ml/on_shares/prediction.h"
#include "ml/records.h"

namespace trefoil::bench {
namespace {

using protocols::As;
using protocols::Entry;
using protocols::Form;
using protocols::Inputs;
using protocols::Prepared;
using protocols::Rounding;
using protocols::Section;
using protocols::Size;

constexpr double kSigma = 1;
constexpr std::int64_t kHiddenSize = 32;
constexpr int kHolder = 0;

/// Which of the models and steps that a job can ask for.
struct StepKind {
  ml::Loss loss = ml::Loss::kOneVsRest;
  ml::Clipping clipping = ml::Clipping::kFactorised;
  Rounding truncation = Rounding::kStochastic;
  bool hidden = false;
};

/// A job of one step on a batch of count records, inner features and as many classes as columns.
ml::TrainingSettings SettingsFor(const Size& size, const StepKind& kind) {
  if (size.columns == 2)
    throw ConfigError("--shape: found 2 classes, expected 1 (two classes, one output) or 3 and more");
  ml::TrainingSettings settings;
  settings.rows = {size.count, 0, 0};
  settings.features = size.inner;
  settings.classes = size.columns == 1 ? 2 : static_cast<int>(size.columns);
  settings.steps = 1;
  settings.expected_batch = static_cast<double>(size.count);
  settings.max_batch_per_owner = size.count;
  settings.learning_rate = 1;
  settings.clip = 0.5;
  settings.sigma = kSigma;
  settings.delta = 1e-5;
  settings.loss = kind.loss;
  settings.clipping = kind.clipping;
  settings.truncation = kind.truncation;
  if (kind.hidden) settings.hidden = {kHiddenSize};
  return settings;
}

ml::StepPlan StepPlanFor(const Size& size, const StepKind& kind) {
  return ml::MakeStepPlan(SettingsFor(size, kind), size.form);
}

/// Uniform features and classes.
ml::OwnRecords RandomRecords(const ml::TrainingSettings& settings, mpc::Index rows) {
  RandomStream stream = RandomStream::FromSystem();
  ml::OwnRecords records;
  records.x.resize(rows, settings.features);
  for (mpc::Index k = 0; k < records.x.size(); ++k) {
    records.x.data()[k] = static_cast<float>(stream.NextWord() >> 40) / static_cast<float>(1 << 24);
  }
  for (mpc::Index row = 0; row < rows; ++row) {
    records.y.push_back(static_cast<int>(stream.NextWord() % static_cast<std::uint64_t>(settings.classes)));
  }
  return records;
}

/// Random rows of one owner.
class RandomRows final : public ml::OwnBatches {
 public:
  explicit RandomRows(const ml::StepPlan& plan) : plan_(plan) {}

  void Next() override {}

  mpc::RingMatrix Rows(mpc::Index /*first*/, mpc::Index count) override {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    return EncodeRecords(plan_, RandomRecords(plan_.settings, count), rows, count);
  }

 private:
  const ml::StepPlan& plan_;
};

/// As each owner inputs a third of it, as narrow as in a training.
ml::Batch RandomBatch(mpc::Context& party, const ml::StepPlan& plan, mpc::Index count) {
  const std::int64_t third = count / 3;
  const std::array<std::int64_t, 3> heights{count - 2 * third, third, third};
  const auto source = MakeInputSource(plan, heights, std::make_unique<RandomRows>(plan));
  source->Share(party);
  return *source->Next(party, 0, 0);
}

mpc::FixedShare ZeroWeights(const ml::StepPlan& plan) {
  const ml::LayerShape shape = ShapeOfWeights(plan);
  return {mpc::ArithShare::Zero(shape.inputs, shape.outputs), plan.settings.fraction_bits};
}

struct StepState {
  ml::StepPlan plan;
  ml::Batch batch;
  ml::TrainingState training;
  std::unique_ptr<ml::NoiseSource> source;
  std::optional<ml::StepNoise> noise{};

  void TakeNoise() {
    if (!noise) noise.emplace(source->Next());
  }
};

/// One step on shared records, noise included.
Prepared PrepareStep(mpc::Context& party, const Size& size, const StepKind& kind) {
  const ml::StepPlan plan = StepPlanFor(size, kind);
  const auto state = std::make_shared<StepState>(
      StepState{.plan = plan,
                .batch = RandomBatch(party, plan, size.count),
                .training = ml::StartFrom(ZeroWeights(plan)),
                .source = std::make_unique<ml::NoiseSource>(plan, kSigma, RandomStream::FromSystem())});
  return {.run =
              [state](mpc::Context& running) {
                state->TakeNoise();
                state->training =
                    DpSgdStep(running, state->plan, state->batch, state->training, state->noise->values());
                state->noise.reset();
                return protocols::Output{};
              },
          .wait_until_ready =
              [state] {
                state->TakeNoise();
                state->source->WaitUntilFull();
              }};
}

Entry StepEntry(const std::string& name, const std::string& what, const StepKind& kind,
                const std::string& parts) {
  return {
      .name = name,
      .row = {what, "", "step", Section("DP-SGD step", "PEA, protocol 3"), As(parts), "certificate", 1},
      .forms = {Form::kBulk, Form::kLatency},
      .size = {.count = 128, .columns = 10, .inner = 784},
      .shaped = true,
      .cost = [kind](const Size& size) { return DpSgdStepCost(StepPlanFor(size, kind), size.count); },
      .seconds = [kind](const Size& size) { return DpSgdStepSeconds(StepPlanFor(size, kind), size.count); },
      .prepare = [kind](mpc::Context& party, Inputs&,
                        const Size& size) { return PrepareStep(party, size, kind); }};
}

std::vector<Entry> Steps() {
  const StepKind published{.clipping = ml::Clipping::kPublished};
  std::vector<Entry> steps{
      StepEntry("dpsgd_step", "DP-SGD step 128 × 784 × 10", {},
                "sigmoid of a product, re-share, multiply, clip factor ({form}), truncate a product"),
      StepEntry(
          "dpsgd_step_exact", "the same, exact truncation", {.truncation = Rounding::kExact},
          "sigmoid of a product, re-share, multiply, clip factor ({form}), truncate exactly, truncate a "
          "product exactly"),
      StepEntry("dpsgd_step_squared", "the same, squared loss", {.loss = ml::Loss::kSquared},
                "truncate a product, evaluate ({form}), re-share, multiply, clip factor ({form})"),
      StepEntry("dpsgd_step_softmax", "the same, softmax with a maximum", {.loss = ml::Loss::kSoftmax},
                "truncate a product, softmax ({form}), re-share, multiply, clip factor ({form})"),
      StepEntry("dpsgd_step_hidden", "the same, a hidden layer of 32", {.hidden = true},
                "truncate a product, look-up ({form}), sigmoid of a product, re-share, multiply, clip factor "
                "({form})"),
      StepEntry("dpsgd_step_examples", "the same, clipping by examples, either form",
                {.clipping = ml::Clipping::kExamples}, "sigmoid of a product, truncate a product"),
      StepEntry("dpsgd_step_published", "the same, published clipping, bulk", published,
                "sigmoid of a product, the clipped sum below, truncate"),
      StepEntry("", "of which the clipped sum", published,
                "truncate a product, inverse square root as published, comparison (bulk), bit to number, "
                "truncate, multiply"),
  };
  steps[0].row.functions = "`DpSgdStep`";
  for (std::size_t k = 5; k < steps.size(); ++k) steps[k].forms = {Form::kBulk};
  Entry& sum = steps.back();
  sum.row.functions = "`SumPublishedGradients`";
  sum.cost = [published](const Size& size) {
    return SumPublishedGradientsCost(StepPlanFor(size, published), size.count);
  };
  sum.prepare = {};
  return steps;
}

ml::StepPlan EvaluationPlanFor(const Size& size) {
  ml::TrainingSettings settings = SettingsFor(size, {});
  settings.evaluation = ml::EvaluationSettings{.test = {.holder = kHolder, .rows = size.count}};
  return ml::MakeStepPlan(settings);
}

struct ModelState {
  ml::StepPlan plan;
  mpc::FixedShare weights;
  ml::OwnRecords records;
};

constexpr auto kModelAndRecords = [](mpc::Context& party, Inputs&, const Size& size) {
  auto plan = EvaluationPlanFor(size);
  auto weights = ZeroWeights(plan);
  auto records = party.self() == kHolder ? RandomRecords(plan.settings, size.count) : ml::OwnRecords{};
  return std::make_shared<ModelState>(ModelState{std::move(plan), std::move(weights), std::move(records)});
};

/// An entry of what is done to count records of party 0 with a linear model.
Entry ModelEntry(const std::string& name, const protocols::Row& row) {
  return {.name = name,
          .row = row,
          .size = {.count = 1000, .columns = 10, .inner = 784},
          .shaped = true,
          .cost = {}};
}

Entry EvaluationEntry() {
  Entry entry = ModelEntry("evaluate_model",
                           {"evaluation of 1,000 records of P0, 784 × 10", "`EvaluateOnShares`", "record",
                            Section("Evaluation, validation and prediction", "PEA, protocol 4"),
                            As("input, re-share, maximum (bulk), re-share, reveal")});
  entry.cost = [](const Size& size) { return EvaluateOnSharesCost(EvaluationPlanFor(size)); };
  entry.prepare = protocols::On(kModelAndRecords, [](mpc::Context& party, const auto& state, const Size&) {
    (void)EvaluateOnShares(party, state->plan, state->weights, state->records);
  });
  return entry;
}

Entry PredictionEntry(bool scores) {
  const auto request = [scores](const Size& size) {
    return ml::PredictionRequest{.client = kHolder, .rows = size.count, .scores = scores};
  };
  Entry entry = ModelEntry(scores ? "predict_scores" : "predict_classes",
                           {scores ? "the same: scores" : "prediction of 1,000 rows for P0: classes",
                            scores ? "" : "`PredictOnShares`", "row",
                            Section("Evaluation, validation and prediction", "PEA, protocol 4"),
                            scores ? As("input, re-share, reveal to the client")
                                   : As("input, re-share, maximum (bulk), reveal to the client")});
  entry.cost = [request](const Size& size) {
    return PredictOnSharesCost(EvaluationPlanFor(size), request(size));
  };
  entry.prepare =
      protocols::On(kModelAndRecords, [request](mpc::Context& party, const auto& state, const Size& size) {
        (void)PredictOnShares(party, state->plan, state->weights, request(size), state->records);
      });
  return entry;
}

}  // namespace

std::vector<Entry> ModelEntries() {
  return protocols::Joined({Steps(), {EvaluationEntry(), PredictionEntry(false), PredictionEntry(true)}});
}

const std::vector<Entry>& AllEntries() {
  static const std::vector<Entry> kEntries =
      protocols::Joined({protocols::Catalogue(), ModelEntries(), ReleaseEntries()});
  return kEntries;
}

}  // namespace trefoil::bench

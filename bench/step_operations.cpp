#include "bench/step_operations.h"

#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "ml/dp_sgd.h"
#include "ml/noise_source.h"
#include "ml/records.h"
#include "protocols/input.h"

namespace trefoil::bench {
namespace {

using mpc::Index;

constexpr double kSigma = 1;

constexpr std::int64_t kHiddenSize = 32;

ml::TrainingSettings SettingsFor(const ProductShape& shape, const StepKind& kind) {
  if (shape.cols == 2)
    throw ConfigError("--shape: found 2 classes, expected 1 (two classes, one output) or 3 and more");
  ml::TrainingSettings settings;
  settings.rows = {shape.rows, 0, 0};
  settings.features = shape.inner;
  settings.classes = shape.cols == 1 ? 2 : static_cast<int>(shape.cols);
  settings.steps = 1;
  settings.expected_batch = static_cast<double>(shape.rows);
  settings.max_batch_per_owner = shape.rows;
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

/// Uniform features and classes.
ml::OwnRecords RandomRecords(const ml::TrainingSettings& settings, Index rows) {
  RandomStream stream = RandomStream::FromSystem();
  ml::OwnRecords records;
  records.x.resize(rows, settings.features);
  for (Index k = 0; k < records.x.size(); ++k) {
    records.x.data()[k] = static_cast<float>(stream.NextWord() >> 40) / static_cast<float>(1 << 24);
  }
  for (Index row = 0; row < rows; ++row) {
    records.y.push_back(static_cast<int>(stream.NextWord() % static_cast<std::uint64_t>(settings.classes)));
  }
  return records;
}

struct StepState {
  ml::StepPlan plan;
  ml::Batch batch;
  ml::TrainingState training;
};

}  // namespace

ml::StepPlan StepPlanFor(const ProductShape& shape, const StepKind& kind, protocols::Form form) {
  return ml::MakeStepPlan(SettingsFor(shape, kind), form);
}

Prepared PrepareStep(mpc::Context& party, const Point& point, const StepKind& kind, protocols::Form form) {
  const ProductShape shape = *point.shape;
  const ml::StepPlan plan = StepPlanFor(shape, kind, form);
  const ml::LayerShape weights = ShapeOfWeights(plan);
  mpc::RingMatrix encoded;
  if (party.self() == 0) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(shape.rows));
    std::iota(rows.begin(), rows.end(), 0);
    encoded = EncodeRecords(plan, RandomRecords(plan.settings, shape.rows), rows, shape.rows);
  }
  const auto shared = protocols::Input(party, 0, encoded, {shape.rows, EncodedColumns(plan)});
  auto state = std::make_shared<StepState>(
      StepState{.plan = plan,
                .batch = ToBatch(plan, shared),
                .training = ml::StartFrom(
                    {mpc::ArithShare::Zero(weights.inputs, weights.outputs), plan.settings.fraction_bits})});
  const auto source = std::make_shared<ml::NoiseSource>(plan, kSigma, RandomStream::FromSystem());
  return {.run =
              [&party, state, source] {
                const ml::StepNoise noise = source->Next();
                state->training =
                    DpSgdStep(party, state->plan, state->batch, state->training, noise.values());
              },
          .declared = DpSgdStepCost(plan, shape.rows),
          .compute_seconds = DpSgdStepSeconds(plan, shape.rows)};
}

}  // namespace trefoil::bench

#include "bench/step_operations.h"

#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "ml/dp_sgd.h"
#include "ml/noise_source.h"
#include "ml/records.h"
#include "protocols/cost_model.h"
#include "protocols/input.h"

namespace trefoil::bench {
namespace {

using mpc::Index;

constexpr double kSigma = 1;

ml::TrainingSettings SettingsFor(const ProductShape& shape, ml::Clipping clipping) {
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
  settings.clipping = clipping;
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

Prepared Prepare(mpc::Context& party, const Point& point, const ml::TrainingSettings& settings,
                 protocols::Form form) {
  const ProductShape shape = *point.shape;
  const ml::StepPlan plan = ml::MakeStepPlan(settings, form);
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
                    {mpc::ArithShare::Zero(shape.inner + 1, plan.columns), plan.settings.fraction_bits})});
  const auto source = std::make_shared<ml::NoiseSource>(plan, kSigma, RandomStream::FromSystem());
  return {.run =
              [&party, state, source] {
                const ml::StepNoise noise = source->Next();
                state->training =
                    DpSgdStep(party, state->plan, state->batch, state->training, noise.values());
              },
          .declared = DpSgdStepCost(plan, shape.rows),
          .compute_seconds = protocols::ComparisonSeconds(
              form, shape.rows, static_cast<std::int64_t>(plan.clip.pieces.thresholds.size()),
              plan.clip.pieces.width)};
}

}  // namespace

Prepared PrepareFactorisedStep(mpc::Context& party, const Point& point, protocols::Form form,
                               protocols::Rounding rounding) {
  ml::TrainingSettings settings = SettingsFor(*point.shape, ml::Clipping::kFactorised);
  settings.truncation = rounding;
  return Prepare(party, point, settings, form);
}

Prepared PreparePublishedStep(mpc::Context& party, const Point& point) {
  return Prepare(party, point, SettingsFor(*point.shape, ml::Clipping::kPublished), protocols::Form::kBulk);
}

}  // namespace trefoil::bench

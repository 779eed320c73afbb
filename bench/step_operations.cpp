#include "bench/step_operations.h"

#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/random_job.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noise_source.h"
#include "ml/records.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::bench {
namespace {

using mpc::Index;

struct StepState {
  ml::StepPlan plan;
  ml::Batch batch;
  ml::TrainingState training;
  std::optional<ml::StepNoise> noise;
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
                    {mpc::ArithShare::Zero(weights.inputs, weights.outputs), plan.settings.fraction_bits}),
                .noise = std::nullopt});
  const auto source = std::make_shared<ml::NoiseSource>(plan, kJobSigma, RandomStream::FromSystem());
  return {.run =
              [state, source](mpc::Context& running) {
                if (!state->noise) state->noise.emplace(source->Next());
                state->training =
                    DpSgdStep(running, state->plan, state->batch, state->training, state->noise->values());
                state->noise.reset();
              },
          .declared = DpSgdStepCost(plan, shape.rows),
          .compute_seconds = DpSgdStepSeconds(plan, shape.rows),
          .wait_until_ready =
              [state, source] {
                if (!state->noise) state->noise.emplace(source->Next());
                source->WaitUntilFull();
              }};
}

}  // namespace trefoil::bench

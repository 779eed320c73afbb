#include "bench/model_operations.h"

#include <memory>
#include <utility>

#include "bench/random_job.h"
#include "ml/on_shares/evaluation.h"
#include "ml/on_shares/prediction.h"

namespace trefoil::bench {
namespace {

constexpr int kHolder = 0;

struct ModelState {
  ml::StepPlan plan;
  mpc::FixedShare weights;
  ml::OwnRecords records;
};

std::shared_ptr<ModelState> StateFor(mpc::Context& party, const ProductShape& shape) {
  auto plan = EvaluationPlanFor(shape);
  const ml::LayerShape size = ShapeOfWeights(plan);
  const int bits = plan.settings.fraction_bits;
  auto records = party.self() == kHolder ? RandomRecords(plan.settings, shape.rows) : ml::OwnRecords{};
  return std::make_shared<ModelState>(
      ModelState{.plan = std::move(plan),
                 .weights = {mpc::ArithShare::Zero(size.inputs, size.outputs), bits},
                 .records = std::move(records)});
}

}  // namespace

ml::StepPlan EvaluationPlanFor(const ProductShape& shape) {
  ml::TrainingSettings settings = SettingsFor(shape, {});
  settings.evaluation = ml::EvaluationSettings{.test = {.holder = kHolder, .rows = shape.rows}};
  return ml::MakeStepPlan(settings);
}

Prepared PrepareEvaluation(mpc::Context& party, const Point& point) {
  const auto state = StateFor(party, *point.shape);
  return {.run =
              [state](mpc::Context& party) {
                (void)EvaluateOnShares(party, state->plan, state->weights, state->records);
              },
          .declared = EvaluateOnSharesCost(state->plan)};
}

Prepared PreparePrediction(mpc::Context& party, const Point& point, PredictionOutput output) {
  const auto state = StateFor(party, *point.shape);
  const ml::PredictionRequest request{
      .client = kHolder, .rows = point.shape->rows, .scores = output == PredictionOutput::kScores};
  return {.run =
              [state, request](mpc::Context& party) {
                (void)PredictOnShares(party, state->plan, state->weights, request, state->records);
              },
          .declared = PredictOnSharesCost(state->plan, request)};
}

}  // namespace trefoil::bench

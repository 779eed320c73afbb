#include "bench/operations.h"

#include <utility>

#include "bench/basic_operations.h"
#include "bench/function_operations.h"
#include "bench/model_operations.h"
#include "bench/release_operations.h"
#include "bench/step_operations.h"

namespace trefoil::bench {
namespace {

using protocols::Form;
using protocols::Rounding;

/// A step in both forms.
void AppendSteps(std::vector<Operation>& all, const std::string& name, const StepKind& kind) {
  for (const auto& [text, form] : {std::pair{"bulk", Form::kBulk}, std::pair{"latency", Form::kLatency}}) {
    all.push_back({name, text, true, [kind, form = form](mpc::Context& party, const Point& point) {
                     return PrepareStep(party, point, kind, form);
                   }});
  }
}

std::vector<Operation> StepOperations() {
  std::vector<Operation> all;
  AppendSteps(all, "dpsgd_step", {});
  AppendSteps(all, "dpsgd_step_exact", {.truncation = Rounding::kExact});
  AppendSteps(all, "dpsgd_step_squared", {.loss = ml::Loss::kSquared});
  AppendSteps(all, "dpsgd_step_softmax", {.loss = ml::Loss::kSoftmax});
  AppendSteps(all, "dpsgd_step_hidden", {.hidden = true});
  all.push_back({"dpsgd_step_published", "bulk", true, [](mpc::Context& party, const Point& point) {
                   return PrepareStep(party, point, {.clipping = ml::Clipping::kPublished}, Form::kBulk);
                 }});
  return all;
}

/// What is done with a model once it is trained.
std::vector<Operation> ModelOperations() {
  const auto prediction = [](PredictionOutput output) {
    return
        [output](mpc::Context& party, const Point& point) { return PreparePrediction(party, point, output); };
  };
  return {{"evaluate_model", "bulk", true, PrepareEvaluation},
          {"predict_classes", "bulk", true, prediction(PredictionOutput::kClasses)},
          {"predict_scores", "bulk", true, prediction(PredictionOutput::kScores)}};
}

}  // namespace

const std::vector<Operation>& AllOperations() {
  static const std::vector<Operation> kOperations = [] {
    std::vector<Operation> all = BasicOperations();
    for (const auto& more :
         {FunctionOperations(), StepOperations(), ModelOperations(), ReleaseOperations()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kOperations;
}

}  // namespace trefoil::bench

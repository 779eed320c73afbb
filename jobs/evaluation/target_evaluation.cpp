#include "jobs/evaluation/target_evaluation.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "jobs/evaluation/classify.h"
#include "jobs/statement/bound_text.h"
#include "ml/scores/target_errors.h"

namespace trefoil::jobs {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kTenths = 10;

std::vector<TargetEvaluation::Bin> CalibrationOf(const std::vector<double>& targets,
                                                 const std::vector<double>& predictions) {
  std::vector<std::size_t> order(targets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predictions[a] < predictions[b]; });
  std::vector<TargetEvaluation::Bin> bins;
  for (std::size_t k = 0; k < kTenths; ++k) {
    TargetEvaluation::Bin bin;
    for (std::size_t i = k * order.size() / kTenths; i < (k + 1) * order.size() / kTenths; ++i) {
      ++bin.records;
      bin.predicted += predictions[order[i]];
      bin.actual += targets[order[i]];
    }
    if (bin.records == 0) continue;
    bin.predicted /= static_cast<double>(bin.records);
    bin.actual /= static_cast<double>(bin.records);
    bins.push_back(bin);
  }
  return bins;
}

}  // namespace

TargetEvaluation EvaluateTargets(const ml::Model& model, const ModelSchema& schema,
                                 const data::Table& table) {
  std::vector<double> targets;
  std::vector<double> predictions;
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const auto logits = Logits(model, table.x.row(static_cast<Eigen::Index>(row)).cast<double>());
    predictions.push_back(TargetOf(schema, logits));
    targets.push_back(data::TargetOfSteps(schema.records.data.target.value(), table.y[row]));
  }
  return {.records = static_cast<std::int64_t>(targets.size()),
          .root_mean_squared_error = ml::RootMeanSquaredError(targets, predictions),
          .r_squared = ml::RSquared(targets, predictions),
          .calibration = CalibrationOf(targets, predictions)};
}

std::string FiguresOf(const TargetEvaluation& evaluation) {
  const auto r_squared = evaluation.r_squared ? AccuracyText(*evaluation.r_squared) : "unknown";
  return fmt::format("R² {}, RMSE {:.4g}", r_squared, evaluation.root_mean_squared_error);
}

std::vector<std::string> WarningsOf(const TargetEvaluation& evaluation) {
  if (!evaluation.r_squared || *evaluation.r_squared > 0) return {};
  return {"the model predicts no better than the mean of these records' targets would"};
}

OrderedJson FiguresJson(const std::optional<TargetEvaluation>& evaluation) {
  if (!evaluation) return {{"r_squared", nullptr}, {"rmse", nullptr}};
  return {{"r_squared", evaluation->r_squared ? OrderedJson(*evaluation->r_squared) : OrderedJson()},
          {"rmse", evaluation->root_mean_squared_error}};
}

OrderedJson ToJson(const TargetEvaluation& evaluation) {
  auto json = FiguresJson(evaluation);
  json["records"] = evaluation.records;
  json["warnings"] = WarningsOf(evaluation);
  json["calibration"] = OrderedJson::array();
  for (const auto& bin : evaluation.calibration)
    json["calibration"].push_back({{"records", bin.records}, {"said", bin.predicted}, {"true", bin.actual}});
  return json;
}

}  // namespace trefoil::jobs

#include "api/model.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/config/input_files.h"
#include "jobs/evaluation/classify.h"
#include "jobs/evaluation/evaluation.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/records/load_records.h"

namespace trefoil {
namespace {

constexpr const char* kSchemaName = "the model's schema";
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Layer LayerOf(const Eigen::MatrixXd& weights, const Eigen::VectorXd& bias) {
  Layer layer{.inputs = weights.rows(),
              .outputs = weights.cols(),
              .weights = std::vector<double>(static_cast<std::size_t>(weights.size())),
              .bias = {bias.begin(), bias.end()}};
  Eigen::Map<RowMajor>(layer.weights.data(), weights.rows(), weights.cols()) = weights;
  return layer;
}

/// What Outer() made a model of.
ml::Model InnerOf(const Model& outer) {
  Require(!outer.layers.empty(), "Model: at least one layer");
  ml::Model model{.weights = {}, .bias = {}, .activation_bound = outer.activation_bound};
  for (const auto& layer : outer.layers) {
    model.weights = Eigen::Map<const RowMajor>(layer.weights.data(), layer.inputs, layer.outputs);
    model.bias = Eigen::Map<const Eigen::VectorXd>(layer.bias.data(), layer.outputs);
    if (&layer != &outer.layers.back())
      model.hidden.push_back({.weights = model.weights, .bias = model.bias});
  }
  return model;
}

/// By what InnerOf() makes of `outer`, which is made once for many rows.
Eigen::RowVectorXd LogitsBy(const ml::Model& inner, const Model& outer, std::span<const float> row) {
  Require(row.size() == static_cast<std::size_t>(outer.layers.front().inputs),
          "Model: a row of as many features as the model has");
  Eigen::RowVectorXd x =
      Eigen::Map<const Eigen::RowVectorXf>(row.data(), outer.layers.front().inputs).cast<double>();
  if (const double norm = x.norm(); norm > outer.row_norm) x *= outer.row_norm / norm;
  return jobs::Logits(inner, x);
}

std::vector<double> NumbersOf(const Eigen::RowVectorXd& row) { return {row.begin(), row.end()}; }

data::Table TableOf(const jobs::ModelSchema& schema, const InputFiles& records, data::LabelUse labels) {
  jobs::PartyFile party;
  jobs::BringFiles(party, records);
  return jobs::LoadRecords(schema.records, party.data,
                           {.labels = labels, .feature_model = party.feature_model});
}

}  // namespace

Model Outer(const ml::Model& model, double row_norm) {
  Model outer{.layers = {}, .activation_bound = model.activation_bound, .row_norm = row_norm};
  for (const auto& hidden : model.hidden) outer.layers.push_back(LayerOf(hidden.weights, hidden.bias));
  outer.layers.push_back(LayerOf(model.weights, model.bias));
  return outer;
}

std::vector<double> Model::Logits(std::span<const float> row) const {
  return NumbersOf(LogitsBy(InnerOf(*this), *this, row));
}

int Model::Classify(std::span<const float> row) const {
  return jobs::ClassOf(LogitsBy(InnerOf(*this), *this, row), decision);
}

ReleasedModel Outer(const jobs::ModelFile& released) {
  ReleasedModel outer{.model = Outer(released.model, released.schema.records.features.row_norm),
                      .schema = released.schema.json};
  outer.model.decision = ml::DecisionLogit(released.schema.classifier);
  return outer;
}

ReleasedModel ReadModel(const std::filesystem::path& file) { return Outer(jobs::LoadModel(file)); }

std::vector<std::vector<double>> LogitsOf(const ReleasedModel& model, const InputFiles& records) {
  const auto schema = jobs::ParseModelSchema(model.schema, kSchemaName);
  const auto table = TableOf(schema, records, data::LabelUse::kIgnored);
  const auto inner = InnerOf(model.model);
  std::vector<std::vector<double>> logits;
  for (Eigen::Index row = 0; row < table.x.rows(); ++row) {
    const std::span features(&table.x(row, 0), static_cast<std::size_t>(table.x.cols()));
    logits.push_back(NumbersOf(LogitsBy(inner, model.model, features)));
  }
  return logits;
}

std::string EvaluationOf(const ReleasedModel& model, const InputFiles& records) {
  const auto schema = jobs::ParseModelSchema(model.schema, kSchemaName);
  const auto table = TableOf(schema, records, data::LabelUse::kRead);
  if (table.y.empty()) throw DataError("records: found none, expected at least one");
  const auto inner = InnerOf(model.model);
  if (schema.records.data.target) return jobs::ToJson(jobs::EvaluateTargets(inner, schema, table)).dump(2);
  return jobs::ToJson(jobs::Evaluate(inner, schema, table), schema.records).dump(2);
}

}  // namespace trefoil

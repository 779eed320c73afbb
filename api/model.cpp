#include "api/model.h"

#include "base/error.h"
#include "jobs/config/input_files.h"
#include "jobs/records/classify.h"
#include "jobs/records/load_records.h"

namespace trefoil {
namespace {

Layer LayerOf(const Eigen::MatrixXd& weights, const Eigen::VectorXd& bias) {
  Layer layer{.inputs = weights.rows(),
              .outputs = weights.cols(),
              .weights = std::vector<double>(static_cast<std::size_t>(weights.size())),
              .bias = {bias.begin(), bias.end()}};
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor>(layer.weights.data(), weights.rows(), weights.cols()) = weights;
  return layer;
}

Eigen::RowVectorXd Output(const Layer& layer, const Eigen::RowVectorXd& input) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return input * Eigen::Map<const RowMajor>(layer.weights.data(), layer.inputs, layer.outputs) +
         Eigen::Map<const Eigen::RowVectorXd>(layer.bias.data(), layer.outputs);
}

Eigen::RowVectorXd LogitsOf(const Model& model, std::span<const float> row) {
  Require(!model.layers.empty() && row.size() == static_cast<std::size_t>(model.layers.front().inputs),
          "Model: a row of as many features as the model has");
  Eigen::RowVectorXd x =
      Eigen::Map<const Eigen::RowVectorXf>(row.data(), model.layers.front().inputs).cast<double>();
  if (const double norm = x.norm(); norm > model.row_norm) x *= model.row_norm / norm;
  for (std::size_t k = 0; k + 1 < model.layers.size(); ++k)
    x = Output(model.layers[k], x).cwiseMax(0).cwiseMin(model.activation_bound);
  return Output(model.layers.back(), x);
}

}  // namespace

Model Outer(const ml::Model& model, double row_norm) {
  Model outer{.layers = {}, .activation_bound = model.activation_bound, .row_norm = row_norm};
  for (const auto& hidden : model.hidden) outer.layers.push_back(LayerOf(hidden.weights, hidden.bias));
  outer.layers.push_back(LayerOf(model.weights, model.bias));
  return outer;
}

std::vector<double> Model::Logits(std::span<const float> row) const {
  const Eigen::RowVectorXd logits = LogitsOf(*this, row);
  return {logits.begin(), logits.end()};
}

int Model::Classify(std::span<const float> row) const { return jobs::ClassOf(LogitsOf(*this, row)); }

ReleasedModel Outer(const jobs::ModelFile& released) {
  return {.model = Outer(released.model, released.schema.records.features.row_norm),
          .schema = released.schema.json};
}

ReleasedModel ReadModel(const std::filesystem::path& file) { return Outer(jobs::LoadModel(file)); }

std::vector<std::vector<double>> LogitsOf(const ReleasedModel& model, const InputFiles& records) {
  jobs::PartyFile party;
  jobs::BringFiles(party, records);
  const auto schema = jobs::ParseModelSchema(model.schema, "the model's schema");
  const auto table = jobs::LoadRecords(
      schema.records, party.data, {.labels = data::LabelUse::kIgnored, .feature_model = party.feature_model});
  std::vector<std::vector<double>> logits;
  for (Eigen::Index row = 0; row < table.x.rows(); ++row) {
    logits.push_back(model.model.Logits({&table.x(row, 0), static_cast<std::size_t>(table.x.cols())}));
  }
  return logits;
}

}  // namespace trefoil

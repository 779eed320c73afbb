#include "apps/evaluation.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/thread_pool.h"
#include "data/rows.h"

namespace trefoil::apps {

namespace {

/// Through the hidden layers, if there are any, and the last one.
Eigen::RowVectorXd Logits(const ml::LinearModel& model, Eigen::RowVectorXd row) {
  for (const auto& layer : model.hidden) {
    const Eigen::RowVectorXd z = row * layer.weights + layer.bias.transpose();
    row = z.cwiseMax(0.0).cwiseMin(model.activation_bound);
  }
  return row * model.weights + model.bias.transpose();
}

}  // namespace

std::vector<int> Predict(const ml::LinearModel& model, const data::Matrix& x) {
  std::vector<int> classes(static_cast<std::size_t>(x.rows()));
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const Eigen::RowVectorXd logits = Logits(model, x.row(row).cast<double>());
    Eigen::Index best = 0;
    if (logits.size() == 1) {
      best = logits(0) > 0 ? 1 : 0;
    } else {
      logits.maxCoeff(&best);
    }
    classes[static_cast<std::size_t>(row)] = static_cast<int>(best);
  }
  return classes;
}

Evaluation Evaluate(const ml::LinearModel& model, const data::Table& table, int classes) {
  Evaluation evaluation;
  evaluation.classes.resize(static_cast<std::size_t>(classes));
  const auto predicted = Predict(model, table.x);
  for (std::size_t row = 0; row < predicted.size(); ++row) {
    const bool correct = predicted[row] == table.y[row];
    auto& own = evaluation.classes[static_cast<std::size_t>(table.y[row])];
    ++own.records;
    own.correct += correct ? 1 : 0;
    ++evaluation.classes[static_cast<std::size_t>(predicted[row])].predicted;
    ++evaluation.records;
    evaluation.correct += correct ? 1 : 0;
  }
  return evaluation;
}

data::Table LoadRecords(const Job& job, const data::DataFiles& files, const LoadOptions& options) {
  const auto& features = job.features;
  if (features.extraction.method == data::FeatureMethod::kOnnx && options.feature_model.empty()) {
    throw ConfigError(
        "features.method: found \"onnx\" and no model file, expected model in [features] of the party file, "
        "or "
        "--feature-model");
  }
  auto table = data::Load(job.data, files, options.capacity);
  if (features.extraction.method == data::FeatureMethod::kNone) {
    data::ScaleRowsTo(table.x, features.row_norm);
    return table;
  }
  ThreadPool pool(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency()));
  data::Extract(features.extraction, table, pool, options.feature_model);
  data::NormaliseRowsTo(table.x, features.row_norm);
  return table;
}

}  // namespace trefoil::apps

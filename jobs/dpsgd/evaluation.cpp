#include "jobs/dpsgd/evaluation.h"

#include "base/error.h"
#include "base/thread_pool.h"
#include "data/dataset/groups.h"
#include "data/dataset/rows.h"
#include "data/dataset/vertical.h"
#include "ml/clear/linear_classifier.h"

namespace trefoil::jobs {

Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row) {
  Eigen::RowVectorXd activation = row;
  for (const auto& layer : model.hidden) {
    const Eigen::RowVectorXd z = activation * layer.weights + layer.bias.transpose();
    activation = z.cwiseMax(0.0).cwiseMin(model.activation_bound);
  }
  return activation * model.weights + model.bias.transpose();
}

int ClassOf(const Eigen::RowVectorXd& logits) { return ml::ChoiceOf(logits).label; }

std::string ClassName(const DpsgdSettings& job, int index) {
  const auto& values = job.data.label.values;
  const auto k = static_cast<std::size_t>(index);
  return k < values.size() ? values[k] : std::to_string(index);
}

Evaluation Evaluate(const ml::Model& model, const data::Table& table, int classes) {
  Evaluation evaluation;
  evaluation.classes.resize(static_cast<std::size_t>(classes));
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const int predicted = ClassOf(Logits(model, table.x.row(static_cast<Eigen::Index>(row)).cast<double>()));
    const bool correct = predicted == table.y[row];
    auto& own = evaluation.classes[static_cast<std::size_t>(table.y[row])];
    ++own.records;
    own.correct += correct ? 1 : 0;
    ++evaluation.classes[static_cast<std::size_t>(predicted)].predicted;
    ++evaluation.records;
    evaluation.correct += correct ? 1 : 0;
  }
  return evaluation;
}

namespace {

/// Each party's columns down to the bound of its block.
void ScaleBlocks(const DpsgdSettings& job, data::Matrix& x) {
  const auto features = data::PartFeatures(job.data);
  const auto norms = ml::BlockNorms(job.features.row_norm, features);
  Eigen::Index first = 0;
  for (std::size_t party = 0; party < features.size(); ++party) {
    const Eigen::Index columns = features.at(party);
    if (columns == 0) continue;
    data::Matrix block = x.middleCols(first, columns);
    data::ScaleRowsTo(block, norms.at(party));
    x.middleCols(first, columns) = block;
    first += columns;
  }
}

}  // namespace

data::Table ReadRecords(const DpsgdSettings& job, const data::DataFiles& files, const LoadOptions& options) {
  if (job.features.extraction.method == data::FeatureMethod::kOnnx && options.feature_model.empty()) {
    throw ConfigError(
        "features.method: found \"onnx\" and no model file, expected model in [features] of the party "
        "file, or --feature-model");
  }
  return data::Load(job.data, files, options.capacity, options.labels);
}

data::Table WithFeatures(const DpsgdSettings& job, data::Table table, const LoadOptions& options) {
  const auto& features = job.features;
  if (job.data.vertical) {
    ScaleBlocks(job, table.x);
    return table;
  }
  if (features.extraction.method == data::FeatureMethod::kNone) {
    data::ScaleRowsTo(table.x, features.row_norm);
    return table;
  }
  ThreadPool pool(ThreadsFor(options.threads));
  data::Extract(features.extraction, table, pool, options.feature_model);
  data::NormaliseRowsTo(table.x, features.row_norm);
  return table;
}

data::Table LoadRecords(const DpsgdSettings& job, const data::DataFiles& files, const LoadOptions& options) {
  return WithFeatures(job, ReadRecords(job, files, options), options);
}

namespace {

/// Rows that stay in their file, where the options ask for that and it can be done.
std::optional<ml::OwnRecords> StoredRecords(const DpsgdSettings& job, const data::DataFiles& files,
                                            const LoadOptions& options) {
  if (!options.most_in_memory || !MayStayOnDisk(job)) return std::nullopt;
  auto table = data::LoadStored(job.data, files, *options.most_in_memory, options.capacity);
  if (!table) return std::nullopt;
  ml::StoredFeatures stored{.rows = static_cast<std::int64_t>(table->x.rows()),
                            .features = static_cast<std::int64_t>(table->x.columns()),
                            .read = [rows = std::move(table->x), norm = job.features.row_norm](
                                        std::int64_t row, std::span<float> out) {
                              rows.Read(static_cast<std::size_t>(row), out);
                              data::ScaleRowTo(out, norm);
                            }};
  return ml::OwnRecords{.x = {}, .y = std::move(table->y), .stored = std::move(stored)};
}

}  // namespace

bool MayStayOnDisk(const DpsgdSettings& job) {
  const bool in_rows = job.data.format == data::Format::kIdx || job.data.format == data::Format::kNpy;
  return in_rows && !job.data.vertical && !job.privacy.groups() &&
         job.features.extraction.method == data::FeatureMethod::kNone;
}

ml::OwnRecords LoadOwnRecords(const DpsgdSettings& job, int party, const data::DataFiles& files,
                              LoadOptions options) {
  options.capacity = job.data.rows.at(static_cast<std::size_t>(party));
  if (auto stored = StoredRecords(job, files, options)) return *std::move(stored);
  if (!job.data.vertical) {
    auto table = LoadRecords(job, files, options);
    ml::OwnRecords own{.x = std::move(table.x), .y = std::move(table.y)};
    if (job.privacy.groups())
      own.groups = data::GroupNumbers(table.keys, job.privacy.max_group_rows, files.file);
    return own;
  }
  const auto labels = party == job.data.label.party ? data::LabelUse::kRead : data::LabelUse::kIgnored;
  auto table = data::Load(data::PartOf(job.data, party), files, options.capacity, labels);
  data::SortByKey(table, files.file);
  return {.x = std::move(table.x), .y = std::move(table.y), .keys = std::move(table.keys)};
}

}  // namespace trefoil::jobs

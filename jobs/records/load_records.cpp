#include "jobs/records/load_records.h"

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "data/dataset/rows.h"
#include "data/dataset/vertical.h"
#include "data/dealing/groups.h"

namespace trefoil::jobs {

namespace {

static_assert(data::kTargetBits == ml::kTargetBits, "targets are trained on as they are read");

/// Each party's columns down to the bound of its block.
void ScaleBlocks(const RecordSchema& schema, data::Matrix& x) {
  const auto features = data::PartFeatures(schema.data);
  const auto norms = ml::BlockNorms(schema.features.row_norm, features);
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

data::Table ReadRecords(const RecordSchema& schema, const data::DataFiles& files,
                        const LoadOptions& options) {
  if (schema.features.extraction.method == data::FeatureMethod::kOnnx && options.feature_model.empty()) {
    throw ConfigError(
        "features.method: found \"onnx\" and no model file, expected model in [features] of the party "
        "file, or --feature-model");
  }
  return data::Load(schema.data, files, options.capacity, options.labels);
}

data::Table WithFeatures(const RecordSchema& schema, data::Table table, const LoadOptions& options) {
  const auto& features = schema.features;
  if (schema.data.vertical) {
    ScaleBlocks(schema, table.x);
    return table;
  }
  if (features.extraction.method == data::FeatureMethod::kNone) {
    data::ScaleRowsTo(table.x, features.row_norm);
    return table;
  }
  ThreadPool pool(ThreadsFor(options.threads));
  data::Extract(features.extraction, table, pool, options.feature_model);
  ScaleExtracted(features, table.x);
  return table;
}

void ScaleExtracted(const FeatureSpec& features, data::Matrix& x) {
  data::NormaliseRowsTo(x, features.row_norm);
  SubtractMeans(features, x);
}

void SubtractMeans(const FeatureSpec& features, data::Matrix& x) {
  if (features.means.empty()) return;
  const auto count = static_cast<Eigen::Index>(features.means.size());
  Require(count == x.cols(), "SubtractMeans: a mean for each feature");
  x.rowwise() -= Eigen::Map<const Eigen::RowVectorXd>(features.means.data(), count).cast<float>();
  data::NormaliseRowsTo(x, features.row_norm);
}

data::Table LoadRecords(const RecordSchema& schema, const data::DataFiles& files,
                        const LoadOptions& options) {
  return WithFeatures(schema, ReadRecords(schema, files, options), options);
}

namespace {

/// Rows that stay in their file, where the options ask for that and it can be done.
std::optional<ml::OwnRecords> StoredRecords(const RecordSchema& schema, const data::DataFiles& files,
                                            const LoadOptions& options) {
  if (!options.max_in_memory || !MayStayOnDisk(schema)) return std::nullopt;
  auto table = data::LoadStored(schema.data, files, *options.max_in_memory, options.capacity);
  if (!table) return std::nullopt;
  ml::StoredFeatures stored{.rows = static_cast<std::int64_t>(table->x.rows()),
                            .features = static_cast<std::int64_t>(table->x.columns()),
                            .read = [rows = std::move(table->x), norm = schema.features.row_norm](
                                        std::int64_t row, std::span<float> out) {
                              rows.Read(static_cast<std::size_t>(row), out);
                              data::ScaleRowTo(out, norm);
                            }};
  return ml::OwnRecords{.x = {}, .y = std::move(table->y), .stored = std::move(stored)};
}

}  // namespace

bool MayStayOnDisk(const RecordSchema& schema) {
  const bool in_rows = schema.data.format == data::Format::kIdx || schema.data.format == data::Format::kNpy;
  return in_rows && !schema.data.vertical && schema.features.extraction.method == data::FeatureMethod::kNone;
}

ml::OwnRecords LoadOwnRecords(const RecordSchema& schema, int party, const data::DataFiles& files,
                              LoadOptions options) {
  options.capacity = schema.data.rows.at(static_cast<std::size_t>(party));
  if (auto stored = StoredRecords(schema, files, options)) return *std::move(stored);
  if (!schema.data.vertical) {
    auto table = LoadRecords(schema, files, options);
    ml::OwnRecords own{.x = std::move(table.x), .y = std::move(table.y), .weights = std::move(table.weights)};
    if (options.group_rows > 0)
      own.groups = data::GroupNumbers(table.keys, options.group_rows, files.place());
    return own;
  }
  const auto labels = party == schema.data.label.party ? data::LabelUse::kRead : data::LabelUse::kIgnored;
  auto table = data::Load(data::PartOf(schema.data, party), files, options.capacity, labels);
  data::SortByKey(table, files.place());
  return {.x = std::move(table.x),
          .y = std::move(table.y),
          .keys = std::move(table.keys),
          .weights = std::move(table.weights)};
}

}  // namespace trefoil::jobs

#include "jobs/statistics/own_sum.h"

#include <algorithm>

#include "data/dataset/load.h"
#include "data/formats/file.h"
#include "data/tables/table_reader.h"
#include "jobs/records/owner_warnings.h"
#include "ml/noise/noisy_sum.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;
using mpc::Index;

// Records have no label here; no column has this name.
constexpr const char* kNoLabel = "\x1f";

/// Of a file without a header the number of fields alone tells whether it is the job's table.
void CheckWidth(const data::DataSpec& spec, const data::DataFiles& files) {
  if (spec.header || !files.query.empty()) return;
  data::TableReader reader(files, spec.header, spec.dialect, spec.decimal);
  if (!reader.Next() || reader.fields().size() == spec.columns.size()) return;
  data::ThrowDataError(reader.path(), reader.Place(), std::to_string(reader.fields().size()) + " fields",
                       std::to_string(spec.columns.size()));
}

/// Turns rows as they are read into cells.
class CellReader {
 public:
  CellReader(const data::DataSpec& spec, const StatisticsLayout& layout) : spec_(spec), layout_(layout) {}

  void Read(const float* row, std::vector<StatisticsCell>& cells, std::int64_t& beyond) const {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const auto& column = spec_.columns[k];
      const auto width = data::WidthOf(column);
      if (column.kind != ColumnKind::kIgnore)
        cells[k] = CellOf(column, row, layout_.numbers[k].range, beyond);
      row += width;
    }
  }

 private:
  static StatisticsCell CellOf(const data::Column& column, const float* features, float range,
                               std::int64_t& beyond) {
    const auto own = data::WidthOf(column) - (column.missing_indicator ? 1 : 0);
    if (column.missing_indicator && features[own] != 0) return {.missing = true};
    if (column.kind == ColumnKind::kCategory)
      return {.value = static_cast<std::size_t>(std::find(features, features + own, 1.0F) - features)};
    const float inside = std::clamp(*features, 0.0F, range);
    if (inside != *features) ++beyond;
    return {.scaled = inside};
  }

  const data::DataSpec& spec_;
  const StatisticsLayout& layout_;
};

void AddVector(const std::vector<StatisticsEntry>& entries, mpc::RingMatrix& sum, std::vector<double>& values,
               std::vector<std::int64_t>& whole) {
  values.clear();
  for (const auto& entry : entries) values.push_back(entry.value);
  whole.resize(values.size());
  ml::EncodeBounded(values, kStatisticsBits, kStatisticsNorm, whole);
  for (std::size_t k = 0; k < whole.size(); ++k) sum(entries[k].place, 0) += static_cast<mpc::Word>(whole[k]);
}

}  // namespace

data::DataSpec RecordsOf(const StatisticsSettings& job) {
  data::DataSpec spec = job.data;
  for (const auto& one : job.columns) {
    auto column = one.column;
    if (column.kind == ColumnKind::kNumber) {
      column.mean = one.low;
      column.scale = ScaleOf(one).scale;
    }
    column.missing_indicator = column.kind != ColumnKind::kIgnore && MayMiss(job, column);
    spec.columns.push_back(std::move(column));
  }
  spec.label = {.column = kNoLabel, .values = {"0", "1"}, .aliases = {}};
  spec.features = data::CountFeatures(spec);
  return spec;
}

OwnStatistics SumStatistics(const StatisticsSettings& job, const StatisticsLayout& layout,
                            const data::DataFiles& files, std::optional<std::int64_t> capacity) {
  const auto spec = RecordsOf(job);
  CheckWidth(spec, files);
  const auto table = data::Load(spec, files, capacity, data::LabelUse::kIgnored);
  const CellReader reader(spec, layout);
  OwnStatistics own{.sum = mpc::RingMatrix::Zero(layout.size, 1), .rows = table.x.rows()};
  if (own.rows > 0) own.warnings = ValueWarnings(spec, table.x);
  std::vector<StatisticsCell> cells(spec.columns.size());
  std::vector<StatisticsEntry> entries;
  std::vector<double> values;
  std::vector<std::int64_t> whole;
  for (Index row = 0; row < table.x.rows(); ++row) {
    reader.Read(table.x.row(row).data(), cells, own.beyond);
    VectorOf(layout, cells, entries);
    AddVector(entries, own.sum, values, whole);
  }
  return own;
}

}  // namespace trefoil::jobs

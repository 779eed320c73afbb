#include "jobs/statistics/own_sum.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

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

/// A table of records, and of each its vector.
class RecordReader {
 public:
  RecordReader(const StatisticsSpec& spec, const StatisticsLayout& layout, const data::DataFiles& files,
               std::optional<std::int64_t> capacity)
      : layout_(layout), spec_(RecordsOf(spec)), cells_(spec_.columns.size()) {
    CheckWidth(spec_, files);
    table_ = data::Load(spec_, files, capacity, data::LabelUse::kIgnored);
  }

  [[nodiscard]] Index rows() const { return table_.x.rows(); }
  /// Of those that were read.
  [[nodiscard]] std::int64_t beyond() const { return beyond_; }
  /// Valid until the next call.
  [[nodiscard]] const std::vector<StatisticsEntry>& VectorAt(Index row) {
    CellReader(spec_, layout_).Read(table_.x.row(row).data(), cells_, beyond_);
    VectorOf(layout_, cells_, entries_);
    return entries_;
  }
  /// Once all were read: what the owner alone should know.
  [[nodiscard]] std::vector<std::string> Warnings() const {
    if (rows() == 0) return {};
    auto lines = ValueWarnings(spec_, table_.x);
    if (beyond_ > 0 && 10 * beyond_ >= rows())
      lines.push_back(
          fmt::format("{} numbers lie beyond low or high of their columns, and count as these; a job with "
                      "wider ranges would tell that rows here have such numbers",
                      beyond_));
    return lines;
  }

 private:
  const StatisticsLayout& layout_;
  data::DataSpec spec_;
  data::Table table_{};
  std::vector<StatisticsCell> cells_;
  std::vector<StatisticsEntry> entries_{};
  std::int64_t beyond_ = 0;
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

data::DataSpec RecordsOf(const StatisticsSpec& job) {
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

OwnStatistics SumStatistics(const StatisticsSpec& job, const StatisticsLayout& layout,
                            const data::DataFiles& files, std::optional<std::int64_t> capacity) {
  RecordReader records(job, layout, files, capacity);
  OwnStatistics own{.sum = mpc::RingMatrix::Zero(layout.size, 1), .rows = records.rows()};
  std::vector<double> values;
  std::vector<std::int64_t> whole;
  for (Index row = 0; row < records.rows(); ++row) AddVector(records.VectorAt(row), own.sum, values, whole);
  own.beyond = records.beyond();
  own.warnings = records.Warnings();
  return own;
}

StatisticsRows RowsOfStatistics(const StatisticsSpec& spec, const StatisticsLayout& layout,
                                const data::DataFiles& files) {
  RecordReader records(spec, layout, files, {});
  StatisticsRows own{.rows = data::Matrix::Zero(records.rows(), layout.size)};
  for (Index row = 0; row < records.rows(); ++row)
    for (const auto& [place, value] : records.VectorAt(row))
      own.rows(row, place) =
          static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, layout.bits)), -layout.bits));
  own.warnings = records.Warnings();
  return own;
}

}  // namespace trefoil::jobs

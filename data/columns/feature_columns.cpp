#include "data/columns/feature_columns.h"

#include <array>
#include <charconv>

namespace trefoil::data {
namespace {

/// In as many digits as it takes to read the same back.
std::string Text(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string BinName(const std::vector<double>& edges, std::size_t bin) {
  if (bin == 0) return "below " + Text(edges.front());
  if (bin == edges.size()) return Text(edges.back()) + " and above";
  return Text(edges[bin - 1]) + " to below " + Text(edges[bin]);
}

void AddColumn(const Column& column, std::vector<FeatureColumn>& all) {
  const auto add = [&](std::string value) {
    all.push_back({.column = column.name, .value = std::move(value)});
  };
  if (column.kind == ColumnKind::kNumber || column.kind == ColumnKind::kDate) {
    all.push_back({.column = column.name, .mean = column.mean, .scale = column.scale});
    all.back().low = column.low.value_or(all.back().low);
    all.back().high = column.high.value_or(all.back().high);
  }
  if (column.kind == ColumnKind::kCategory) {
    for (const auto& value : column.values) add(value);
  }
  if (column.kind == ColumnKind::kBin) {
    for (std::size_t bin = 0; bin <= column.edges.size(); ++bin) add(BinName(column.edges, bin));
  }
  if (column.missing_indicator) add("(missing)");
}

}  // namespace

std::vector<FeatureColumn> FeatureColumns(const DataSpec& spec) {
  std::vector<FeatureColumn> all;
  if (spec.format != Format::kCsv) {
    for (std::int64_t k = 1; k <= spec.features; ++k)
      all.push_back({.column = "x" + std::to_string(k), .scale = spec.scale});
  }
  for (const auto& column : spec.columns) {
    if (column.name != spec.label.column) AddColumn(column, all);
  }
  return all;
}

}  // namespace trefoil::data

#include "data/dataset/spec.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

[[noreturn]] void Fail(const std::string& key, const std::string& found, const std::string& expected) {
  throw ConfigError(key + ": found " + found + ", expected " + expected);
}

void CheckUnique(const std::string& key, const std::vector<std::string>& values) {
  std::set<std::string> seen;
  for (const auto& value : values) {
    if (!seen.insert(value).second) Fail(key, Quote(value) + " twice", "each value once");
  }
}

void CheckScale(const std::string& key, double scale) {
  if (!std::isfinite(scale) || scale <= 0) Fail(key, NumberText(scale), "a finite number above 0");
}

void CheckColumn(const Column& column) {
  const std::string key = "data.column " + Quote(column.name);
  if (column.kind == ColumnKind::kNumber) {
    CheckScale(key + " scale", column.scale);
    if (!std::isfinite(column.mean)) Fail(key + " mean", NumberText(column.mean), "a finite number");
  } else if (column.kind == ColumnKind::kCategory) {
    if (column.values.empty()) Fail(key + " values", "none", "at least one category");
    CheckUnique(key + " values", column.values);
  }
}

void CheckLabel(const DataSpec& spec) {
  const auto& [column, values, aliases, party] = spec.label;
  if (column.empty()) Fail("data.label.column", "no name", "the label column's name");
  CheckUnique("data.label.values", values);
  if (values.size() != static_cast<std::size_t>(spec.classes)) {
    Fail("data.label.values", std::to_string(values.size()) + " values",
         std::to_string(spec.classes) + " (data.classes)");
  }
  const std::set<std::string> declared(values.begin(), values.end());
  for (const auto& [alias, value] : aliases) {
    if (!declared.contains(value)) Fail("data.label.aliases", Quote(value), "one of data.label.values");
    if (declared.contains(alias) && alias != value) {
      Fail("data.label.aliases", Quote(alias) + " for another value", "no alias that is itself a value");
    }
  }
}

void CheckCsv(const DataSpec& spec) {
  if (spec.columns.empty()) Fail("data.column", "none", "at least one column");
  std::vector<std::string> names;
  for (const auto& column : spec.columns) names.push_back(column.name);
  CheckUnique("data.column name", names);
  for (const auto& column : spec.columns) {
    if (column.name != spec.label.column) CheckColumn(column);
  }
  CheckLabel(spec);
  const auto count = CountFeatures(spec);
  if (count != spec.features) {
    Fail("data.features", std::to_string(spec.features), std::to_string(count) + ", what the columns make");
  }
}

void CheckCifar(const DataSpec& spec) {
  if (spec.features != kCifarImage.values()) {
    Fail("data.features", std::to_string(spec.features),
         std::to_string(kCifarImage.values()) + ", what data.format \"cifar\" has");
  }
  if (spec.image.given() && spec.image != kCifarImage)
    Fail("features.image", SizeText(spec.image), SizeText(kCifarImage) + ", what data.format \"cifar\" has");
}

}  // namespace

DataSpec PartOf(const DataSpec& spec, int party) {
  DataSpec part = spec;
  std::erase_if(part.columns, [&](const Column& column) {
    const bool label = column.name == spec.label.column;
    return column.kind != ColumnKind::kKey && (label ? spec.label.party : column.party) != party;
  });
  part.features = CountFeatures(part);
  return part;
}

std::array<std::int64_t, 3> PartFeatures(const DataSpec& spec) {
  return {PartOf(spec, 0).features, PartOf(spec, 1).features, PartOf(spec, 2).features};
}

std::int64_t CountFeatures(const DataSpec& spec) {
  std::int64_t count = 0;
  for (const auto& column : spec.columns) {
    if (column.name == spec.label.column) continue;
    if (column.kind == ColumnKind::kNumber) count += 1;
    if (column.kind == ColumnKind::kCategory) count += static_cast<std::int64_t>(column.values.size());
  }
  return count;
}

std::int64_t CountTexts(const DataSpec& spec) {
  return std::count_if(spec.columns.begin(), spec.columns.end(), [&](const Column& column) {
    return column.kind == ColumnKind::kText && column.name != spec.label.column;
  });
}

void ValidateSpec(const DataSpec& spec) {
  for (const auto rows : spec.rows) {
    if (rows < 0) Fail("data.rows", std::to_string(rows), "a capacity of at least 0");
  }
  const bool texts = spec.format == Format::kCsv && CountTexts(spec) > 0;
  // A party may hold the labels only.
  if (spec.features < (texts || spec.vertical ? 0 : 1))
    Fail("data.features", std::to_string(spec.features), "at least 1");
  if (spec.classes < 2) Fail("data.classes", std::to_string(spec.classes), "at least 2");
  CheckScale("data.scale", spec.scale);
  if (spec.format == Format::kCsv) CheckCsv(spec);
  if (spec.format == Format::kCifar) CheckCifar(spec);
}

}  // namespace trefoil::data

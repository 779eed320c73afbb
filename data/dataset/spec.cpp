#include "data/dataset/spec.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "data/columns/date_format.h"
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

void CheckColumn(const Column& column, char decimal) {
  const std::string key = "data.column " + Quote(column.name);
  if (column.kind == ColumnKind::kNumber || column.kind == ColumnKind::kDate) {
    CheckScale(key + " scale", column.scale);
    if (!std::isfinite(column.mean)) Fail(key + " mean", NumberText(column.mean), "a finite number");
  } else if (column.kind == ColumnKind::kCategory) {
    if (column.values.empty()) Fail(key + " values", "none", "at least one category");
    CheckUnique(key + " values", column.values);
  }
  if (const auto flaw = FlawOf(column, decimal)) Fail(key + " " + flaw->key, flaw->found, flaw->expected);
}

/// A number as the file has it, where those of the job are meant: it would be a text, and never met.
std::optional<Flaw> FlawOfDecimals(const char* key, const std::string& text, char decimal) {
  if (CanonicalNumber(text, '.') || !CanonicalNumber(text, decimal)) return {};
  std::string own = text;
  std::replace(own.begin(), own.end(), decimal, '.');
  return Flaw{key, Quote(text), Quote(own) + ": the job's own numbers have a point"};
}

/// What is wrong with aliases, and with values that are numbers.
std::optional<Flaw> FlawOfTexts(const std::vector<std::string>& values,
                                const std::map<std::string, std::string>& aliases, bool numeric,
                                char decimal) {
  const auto key = [&](const std::string& text) {
    return numeric ? CanonicalNumber(text, '.').value_or(text) : text;
  };
  std::map<std::string, std::string> meanings;
  for (const auto& value : values) {
    if (numeric && !CanonicalNumber(value, '.'))
      return Flaw{"values", Quote(value), "numbers, with numeric = true"};
    if (!meanings.emplace(key(value), value).second && numeric)
      return Flaw{"values", Quote(value) + " for an earlier number", "each number once, with numeric = true"};
  }
  for (const auto& [alias, value] : aliases) {
    if (auto flaw = numeric ? FlawOfDecimals("aliases", alias, decimal) : std::nullopt) return flaw;
    if (std::find(values.begin(), values.end(), value) == values.end())
      return Flaw{"aliases", Quote(value), "one of the values"};
    if (meanings.emplace(key(alias), value).first->second != value)
      return Flaw{"aliases", Quote(alias) + " for another value",
                  "no alias that is itself a value or an alias"};
  }
  return {};
}

/// What is wrong with the mark of a missing value or what one is read as.
std::optional<Flaw> FlawOfMissing(const Column& column, char decimal) {
  const ValueIndex values(column.values, column.aliases, column.numeric);
  for (const auto& mark : column.missing.value_or(std::vector<std::string>())) {
    if (column.kind == ColumnKind::kCategory && values.Find(mark, '.'))
      return Flaw{"missing", Quote(mark) + ", which is a value or an alias", "marks of missing values alone"};
    if (auto flaw = HasNumbers(column) ? FlawOfDecimals("missing", mark, decimal) : std::nullopt) return flaw;
  }
  if (!column.fill) return {};
  Column plain = column;
  plain.missing.emplace();
  plain.unknown = UnknownValue::kError;
  plain.fill.reset();
  const DataSpec spec;
  std::vector<float> features(static_cast<std::size_t>(WidthOf(plain)));
  if (auto expected = ColumnEncoder(plain, spec).Encode(*column.fill, features.data()))
    return Flaw{"fill", Quote(*column.fill), *std::move(expected)};
  return {};
}

void CheckWeights(const DataSpec& spec) {
  const auto* column = WeightColumn(spec);
  if (column == nullptr) return;
  if (column->name == spec.label.column)
    Fail("data.column " + Quote(column->name) + " kind", "the label's column", "another one for weights");
  const auto count = std::count_if(spec.columns.begin(), spec.columns.end(),
                                   [](const Column& one) { return one.kind == ColumnKind::kWeight; });
  if (count > 1) Fail("data.column kind", "two columns of weights", "one at most");
}

void CheckLabel(const DataSpec& spec) {
  const auto& [column, values, aliases, party, numeric] = spec.label;
  if (spec.target) {
    if (column.empty()) Fail("data.target.column", "no name", "the target column's name");
    return;
  }
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
  if (const auto flaw = FlawOf(spec.label, spec.decimal))
    Fail(std::string("data.label.") + flaw->key, flaw->found, flaw->expected);
}

void CheckCsv(const DataSpec& spec) {
  if (spec.columns.empty()) Fail("data.column", "none", "at least one column");
  std::vector<std::string> names;
  for (const auto& column : spec.columns) names.push_back(column.name);
  CheckUnique("data.column name", names);
  for (const auto& column : spec.columns) {
    if (column.name != spec.label.column) CheckColumn(column, spec.decimal);
  }
  CheckWeights(spec);
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

void CheckImages(const DataSpec& spec) {
  const int channels = spec.image.channels;
  if (spec.image.values() != spec.features || (channels != 1 && channels != 3)) {
    Fail("features.image", spec.image.given() ? SizeText(spec.image) : "none",
         "height and width, and 3 channels of images in colour, of " + std::to_string(spec.features) +
             " values (data.features), with data.format \"images\"");
  }
  CheckUnique("data.label.values", spec.label.values);
  if (spec.label.values.size() != static_cast<std::size_t>(spec.classes)) {
    Fail("data.label.values", std::to_string(spec.label.values.size()) + " values",
         std::to_string(spec.classes) + " (data.classes)");
  }
  for (const auto& name : spec.label.values) {
    if (!IsFolderName(name)) Fail("data.label.values", Quote(name), kFolderNames);
  }
}

}  // namespace

bool IsFolderName(std::string_view text) {
  return !text.empty() && text.front() != '.' &&
         text.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

std::int64_t WidthOf(const Column& column) {
  const auto own = [&]() -> std::size_t {
    if (column.kind == ColumnKind::kCategory) return column.values.size();
    if (column.kind == ColumnKind::kBin) return column.edges.size() + 1;
    return column.kind == ColumnKind::kNumber || column.kind == ColumnKind::kDate ? 1 : 0;
  }();
  return static_cast<std::int64_t>(own) + (column.missing_indicator ? 1 : 0);
}

bool HasNumbers(const Column& column) {
  return column.kind == ColumnKind::kNumber || column.kind == ColumnKind::kBin ||
         (column.kind == ColumnKind::kCategory && column.numeric);
}

std::optional<Flaw> FlawOf(const Column& column, char decimal) {
  if (column.kind == ColumnKind::kDate && !IsDateFormat(column.date_format))
    return Flaw{"format", Quote(column.date_format),
                "%Y, %m and %d once each, as in \"%Y-%m-%d\" (also %H, %M, %S)"};
  if (column.kind == ColumnKind::kDate && !DaysOf(column.origin, "%Y-%m-%d"))
    return Flaw{"origin", Quote(column.origin), "a date as \"%Y-%m-%d\""};
  if (column.low && column.high) {
    const double range = *column.high - *column.low;
    if (!(range > 1e-200 && range < 1e200))
      return Flaw{"high", NumberText(*column.high),
                  "a number above low, by more than 1e-200 and less than 1e200"};
  }
  const auto& edges = column.edges;
  const bool ascending =
      std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end() &&
      std::all_of(edges.begin(), edges.end(), [](double edge) { return std::isfinite(edge); });
  if (column.kind == ColumnKind::kBin && (edges.empty() || !ascending))
    return Flaw{"edges", edges.empty() ? "none" : "edges out of order", "finite numbers in ascending order"};
  if (column.kind == ColumnKind::kWeight && !(column.largest > 0 && std::isfinite(column.largest)))
    return Flaw{"largest", NumberText(column.largest), "a finite number above 0"};
  if (auto flaw = FlawOfTexts(column.values, column.aliases, column.numeric, decimal)) return flaw;
  return FlawOfMissing(column, decimal);
}

std::optional<Flaw> FlawOf(const Label& label, char decimal) {
  return label.numeric ? FlawOfTexts(label.values, label.aliases, true, decimal) : std::nullopt;
}

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
    if (column.name != spec.label.column) count += WidthOf(column);
  }
  return count;
}

const Column* WeightColumn(const DataSpec& spec) {
  const auto found = std::find_if(spec.columns.begin(), spec.columns.end(),
                                  [](const Column& column) { return column.kind == ColumnKind::kWeight; });
  return found == spec.columns.end() ? nullptr : &*found;
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
  if (spec.target) {
    if (const auto expected = FlawOf(*spec.target))
      Fail("data.target.high", std::to_string(spec.target->high), *expected);
  }
  CheckScale("data.scale", spec.scale);
  if (spec.format == Format::kCsv) CheckCsv(spec);
  if (spec.format == Format::kCifar) CheckCifar(spec);
  if (spec.format == Format::kImages) CheckImages(spec);
}

}  // namespace trefoil::data

#include "jobs/draft/column_answer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/config/toml_writer.h"
#include "jobs/draft/value_list.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kMaxCategories = 100;
constexpr std::size_t kFewestNumbers = 6;  ///< fewer whole numbers, but for two, are taken for categories
constexpr const char* kExpected =
    "number MEAN SCALE, range LEAST MOST, category VALUES, date FORMAT MEAN SCALE or ignore";

/// "MEAN SCALE": the spread rounded up to two digits, the middle to five of its last digit.
std::string Scaled(const data::ColumnSketch& sketch) {
  const double unit = std::pow(10.0, std::floor(std::log10(sketch.spread)) - 1);
  const double middle = std::round(sketch.middle / (5 * unit)) * 5 * unit;
  return fmt::format("{:.15g} {:.15g}", middle + 0.0, std::ceil(sketch.spread / unit - 1e-9) * unit);
}

std::string Categories(const data::ColumnSketch& sketch) {
  std::vector<std::string> values;
  for (const auto& value : sketch.values) values.push_back(value.text);
  return fmt::format("category {}", ValuesText(values));
}

bool IsRunningNumber(const data::ColumnSketch& sketch, std::size_t rows) {
  const bool all_differ = sketch.more_values || sketch.values.size() == rows;
  return sketch.whole && all_differ && sketch.most - sketch.least + 1 == static_cast<double>(rows);
}

void Scale(data::Column& column, double mean, double scale) {
  if (scale <= 0)
    throw ConfigError(fmt::format("{}: found a scale of {}, expected one above 0", column.name, scale));
  column.mean = mean;
  column.scale = scale;
}

void TakeCategories(data::Column& column, const std::string& list) {
  auto values = ParseValues(list);
  if (values.values.empty()) throw ConfigError(column.name + ": found no categories, expected at least one");
  column.kind = data::ColumnKind::kCategory;
  column.numeric = values.numeric();
  column.values = std::move(values.values);
  column.aliases = std::move(values.aliases);
}

}  // namespace

std::string ColumnProposal(const data::ColumnSketch& sketch, std::size_t rows) {
  if (!sketch.more_values && sketch.values.size() < 2) return "ignore";
  if (sketch.date_format) return fmt::format("date {} {}", *sketch.date_format, Scaled(sketch));
  const auto count = sketch.values.size();
  if (!sketch.numbers)
    return sketch.more_values || count > kMaxCategories || count > rows / 2 ? "ignore" : Categories(sketch);
  if (IsRunningNumber(sketch, rows)) return "ignore";
  if (sketch.whole && !sketch.more_values && count > 2 && count < kFewestNumbers) return Categories(sketch);
  return fmt::format("number {}", Scaled(sketch));
}

data::Column ColumnOf(const std::string& name, const std::string& answer) {
  data::Column column;
  column.name = name;
  const auto words = WordsOf(answer);
  const auto number = [&](std::size_t at) { return ParseNumber(words[at], name); };
  const std::string kind = words.empty() ? "" : words[0];
  if (kind == "number" && words.size() == 3) {
    Scale(column, number(1), number(2));
  } else if (kind == "range" && words.size() == 3) {
    if (number(1) >= number(2))
      throw ConfigError(fmt::format("{}: found the range {} {}, expected a smallest and a largest number",
                                    name, words[1], words[2]));
    Scale(column, (number(1) + number(2)) / 2, (number(2) - number(1)) / 2);
  } else if (kind == "category") {
    TakeCategories(column, answer.substr(answer.find(kind) + kind.size()));
  } else if (kind == "date" && words.size() == 4) {
    column.kind = data::ColumnKind::kDate;
    column.date_format = words[1];
    column.origin = "2000-01-01";
    Scale(column, number(2), number(3));
  } else if (kind == "ignore" && words.size() == 1) {
    column.kind = data::ColumnKind::kIgnore;
  } else {
    throw ConfigError(fmt::format("{}: found \"{}\", expected {}", name, answer, kExpected));
  }
  if (const auto flaw = data::FlawOf(column))
    throw ConfigError(fmt::format("{}: found {}, expected {}", name, flaw->found, flaw->expected));
  return column;
}

std::string ColumnToml(const data::Column& column) {
  using nlohmann::json;
  auto text = fmt::format("\n[[data.column]]\nname = {}\n", TomlString(column.name));
  const auto line = [&text](const char* key, const json& value) {
    text += fmt::format("{} = {}\n", key, TomlValue(value));
  };
  switch (column.kind) {
    case data::ColumnKind::kCategory:
      line("kind", "category");
      line("values", column.values);
      if (column.numeric) line("numeric", true);
      if (!column.aliases.empty()) line("aliases", column.aliases);
      return text;
    case data::ColumnKind::kIgnore:
      line("kind", "ignore");
      return text;
    case data::ColumnKind::kDate:
      line("kind", "date");
      line("format", column.date_format);
      line("origin", column.origin);
      break;
    default:
      break;
  }
  line("mean", column.mean);
  line("scale", column.scale);
  return text;
}

}  // namespace trefoil::jobs

#include "jobs/draft/column_answer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/draft/value_list.h"
#include "jobs/records/column_fields.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kMaxCategories = 100;
constexpr std::size_t kFewestNumbers = 6;  ///< fewer whole numbers, but for two, are taken for categories
constexpr std::size_t kRare = 10;          ///< rows: a value of fewer tells of them
constexpr double kSparse = 1000;  ///< times the rows: a range that whole numbers of records leave empty
constexpr std::string_view kIndicator = "indicator ";
constexpr std::string_view kMarks = "; missing ";

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

/// Whether "id" is a word of the name, as in patient_id, "ID number" and encounterId.
bool IsNamedId(const std::string& name) {
  static const std::regex word("(^|[^A-Za-z])[iI][dD]($|[^A-Za-z])|[a-z]I[dD]($|[^a-z])");
  return std::regex_search(name, word);
}

/// A number that names the record: whole ones, all different, that run on without a gap, or whose column is
/// named so, or is the first of a table without names and so sparse that they measure nothing.
bool IsIdentifier(const data::ColumnSketch& sketch, std::size_t rows) {
  if (!sketch.whole || !sketch.all_differ || sketch.missing) return false;
  const double values = sketch.most - sketch.least + 1;
  const bool sparse = values >= kSparse * static_cast<double>(rows);
  return values == static_cast<double>(rows) || IsNamedId(sketch.name) || (sketch.name == "c1" && sparse);
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

/// `text` is behind the word "date": a format, which may hold blanks, and two numbers.
void TakeDate(data::Column& column, const std::string& text) {
  const auto words = WordsOf(text);
  const auto number = [&](std::size_t from_end) {
    return ParseNumber(words[words.size() - from_end], column.name);
  };
  const double mean = number(2);
  const double scale = number(1);
  const auto begin = text.find_first_not_of(" ,\t");
  const auto end = text.rfind(words[words.size() - 2], text.rfind(words.back()) - 1);
  column.kind = data::ColumnKind::kDate;
  column.date_format = text.substr(begin, text.find_last_not_of(" ,", end - 1) + 1 - begin);
  column.origin = "2000-01-01";
  // A number too many is none of a format.
  for (std::size_t k = 1; k + 2 < words.size(); ++k) {
    if (words[k].find('%') == std::string::npos)
      throw ConfigError(fmt::format("{}: found \"{}\", expected {}", column.name, text, kColumnAnswers));
  }
  Scale(column, mean, scale);
}

/// Whether `answer` is one; its values are checked by nobody yet.
bool Take(data::Column& column, const std::string& answer) {
  const auto words = WordsOf(answer);
  const auto number = [&](std::size_t at) { return ParseNumber(words[at], column.name); };
  const std::string kind = words.empty() ? "" : words[0];
  const auto rest = [&] { return answer.substr(answer.find(kind) + kind.size()); };
  if (kind == "number" && words.size() == 3) {
    Scale(column, number(1), number(2));
  } else if (kind == "range" && words.size() == 3) {
    if (number(1) >= number(2))
      throw ConfigError(fmt::format("{}: found the range {} {}, expected a smallest and a largest number",
                                    column.name, words[1], words[2]));
    Scale(column, (number(1) + number(2)) / 2, (number(2) - number(1)) / 2);
    column.low = number(1);
    column.high = number(2);
  } else if (kind == "private" && words.size() == 1) {
    column.private_range = true;
  } else if (kind == "category") {
    TakeCategories(column, rest());
  } else if (kind == "bin" && words.size() > 1) {
    column.kind = data::ColumnKind::kBin;
    for (std::size_t k = 1; k < words.size(); ++k) column.edges.push_back(number(k));
  } else if (kind == "date" && words.size() >= 4) {
    TakeDate(column, rest());
  } else if (kind == "text" && words.size() == 1) {
    column.kind = data::ColumnKind::kText;
  } else if (kind == "weight" && words.size() == 2) {
    column.kind = data::ColumnKind::kWeight;
    column.largest = number(1);
    if (!(column.largest >= 0.001 && column.largest <= 1000))
      throw ConfigError(
          fmt::format("{}: found the weight {}, expected one of 0.001 to 1000", column.name, words[1]));
  } else if (kind == "ignore" && words.size() == 1) {
    column.kind = data::ColumnKind::kIgnore;
  } else {
    return false;
  }
  return true;
}

/// Where the marks of an answer begin; its end where it has none. Values in quotes may hold anything.
std::size_t EndOfKind(const std::string& answer) {
  bool quoted = false;
  for (std::size_t at = 0; at < answer.size(); ++at) {
    if (answer[at] == '"') quoted = !quoted;
    if (!quoted && std::string_view(answer).substr(at).starts_with(kMarks)) return at;
  }
  return answer.size();
}

std::vector<std::string> MarksOf(const std::string& name, const std::string& list) {
  auto marks = ParseValues(list);
  if (marks.values.empty() || !marks.aliases.empty())
    throw ConfigError(
        fmt::format("{}: found missing \"{}\", expected marks with commas between them", name, list));
  return std::move(marks.values);
}

bool MayBeMissing(data::ColumnKind kind) {
  using enum data::ColumnKind;
  return kind == kNumber || kind == kCategory || kind == kBin || kind == kDate;
}

std::string PlainProposal(const data::ColumnSketch& sketch, std::size_t rows) {
  if (!sketch.more_values && sketch.values.size() < 2) return "ignore";
  if (sketch.date_format) return fmt::format("date {} {}", *sketch.date_format, Scaled(sketch));
  const auto count = sketch.values.size();
  if (!sketch.numbers)
    return sketch.more_values || count > kMaxCategories || count > rows / 2 ? "ignore" : Categories(sketch);
  if (IsIdentifier(sketch, rows)) return "ignore";
  if (sketch.whole && !sketch.more_values && count > 2 && count < kFewestNumbers) return Categories(sketch);
  return fmt::format("number {}", Scaled(sketch));
}

}  // namespace

std::string ColumnProposal(const data::ColumnSketch& sketch, std::size_t rows) {
  const auto plain = PlainProposal(sketch, rows);
  if (!sketch.missing || plain == "ignore") return plain;
  const auto marks = sketch.marks.empty() ? "" : std::string(kMarks) + ValuesText(sketch.marks);
  return std::string(kIndicator) + plain + marks;
}

std::string RareText(const data::ColumnSketch& sketch) {
  const auto rare = std::count_if(sketch.values.begin(), sketch.values.end(),
                                  [](const auto& value) { return value.rows < kRare; });
  return rare > 0 ? fmt::format(" ({} of them in fewer than {} rows)", rare, kRare) : "";
}

std::string RareMarkText(const data::ColumnSketch& sketch) {
  if (sketch.marks.empty() || sketch.marked_rows >= kRare) return "";
  return fmt::format(" (\"{}\" in fewer than {} rows, perhaps by a typing error)", sketch.marks.front(),
                     kRare);
}

data::Column ColumnOf(const std::string& name, const std::string& answer) {
  data::Column column;
  column.name = name;
  column.missing_indicator = answer.starts_with(kIndicator);
  const auto begin = column.missing_indicator ? kIndicator.size() : 0;
  const auto end = EndOfKind(answer);
  if (end < answer.size()) column.missing = MarksOf(name, answer.substr(end + kMarks.size()));
  const bool taken = Take(column, answer.substr(begin, end - begin));
  if (!taken || ((column.missing_indicator || column.missing) && !MayBeMissing(column.kind)))
    throw ConfigError(fmt::format("{}: found \"{}\", expected {}", name, answer, kColumnAnswers));
  if (const auto flaw = data::FlawOf(column))
    throw ConfigError(fmt::format("{}: found {}, expected {}", name, flaw->found, flaw->expected));
  return column;
}

std::string ColumnToml(const data::Column& column, bool standardised) {
  using nlohmann::json;
  auto text = fmt::format("\n[[data.column]]\nname = {}\n", TomlString(column.name));
  const auto line = [&text](const char* key, const json& value) {
    text += fmt::format("{} = {}\n", key, TomlValue(value));
  };
  using enum data::ColumnKind;
  if (column.kind != kNumber) line("kind", KindText(column.kind));
  if (column.kind == kCategory) {
    line("values", column.values);
    if (column.numeric) line("numeric", true);
    if (!column.aliases.empty()) line("aliases", column.aliases);
    line("unknown", "missing");
  }
  if (column.kind == kBin) line("edges", column.edges);
  if (column.kind == kWeight) line("largest", column.largest);
  if (column.kind == kDate) {
    line("format", column.date_format);
    line("origin", column.origin);
  }
  if (column.private_range) {
    line("range", "private");
  } else if (column.kind == kNumber && standardised) {
    line("low", *column.low);
    line("high", *column.high);
  } else if (column.kind == kNumber || column.kind == kDate) {
    line("mean", column.mean);
    line("scale", column.scale);
  }
  if (column.missing) line("missing", *column.missing);
  if (column.missing_indicator) line("missing_indicator", true);
  return text;
}

}  // namespace trefoil::jobs

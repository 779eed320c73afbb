#include "jobs/draft/prediction.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error_report.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/draft/column_answer.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kMaxClasses = 20;
constexpr std::size_t kFewestRatings = 6;
/// How many times as many rows the most frequent rating has as the ends.
constexpr std::size_t kRatingPeak = 4;

void CheckLabel(const data::ColumnSketch& label) {
  if (label.missing)
    throw ConfigError(
        fmt::format("label: column \"{}\" has missing values, expected rows with a label only", label.name));
  if (label.values.size() < 2 && !label.more_values)
    throw ConfigError(fmt::format(
        "label: column \"{}\" has one value in all rows, expected two classes at least", label.name));
}

bool HasManyValues(const data::ColumnSketch& label) {
  return label.more_values || label.values.size() > kMaxClasses;
}

/// Few whole numbers. Classes have no order: the first or the last number is as frequent as any of them.
bool AreRatings(const data::ColumnSketch& label) {
  if (!label.whole || HasManyValues(label) || label.values.size() < kFewestRatings) return false;
  const auto peak =
      std::max_element(label.values.begin(), label.values.end(),
                       [](const auto& one, const auto& other) { return one.rows < other.rows; });
  return kRatingPeak * std::max(label.values.front().rows, label.values.back().rows) < peak->rows;
}

/// "target LOW HIGH": a tenth of the range beyond both ends, outwards to two digits of the range; of ratings
/// the ends.
std::string TargetText(const data::ColumnSketch& label) {
  if (AreRatings(label)) return fmt::format("target {:.15g} {:.15g}", label.least, label.most);
  const double margin = (label.most - label.least) / 10;
  const double unit = std::pow(10.0, std::floor(std::log10(10 * margin)) - 1);
  const double low = std::floor((label.least - margin) / unit) * unit;
  const double high = std::ceil((label.most + margin) / unit) * unit;
  return fmt::format("target {:.15g} {:.15g}", label.least >= 0 ? std::max(0.0, low) : low, high);
}

std::string ClassesText(const data::ColumnSketch& label) {
  std::vector<std::string> found;
  for (const auto& value : label.values) found.push_back(value.text);
  return ValuesText(found);
}

Question TargetQuestion(const data::ColumnSketch& label) {
  const auto classes = HasManyValues(label)
                           ? std::string("their values")
                           : fmt::format("their values, here {}", OneLine(ClassesText(label)));
  const auto* ends = AreRatings(label) ? " (these are this file's ends: take those of the scale)" : "";
  return {
      .key = "classes",
      .text = fmt::format("{} is a number to be predicted: \"target LOW HIGH\", its range{}; others are an "
                          "error.\nOr classes, in the order of {}; another spelling follows \"or\".",
                          OneLine(label.name), ends, classes),
      .proposal = TargetText(label),
      .note = fmt::format("; the range of {}, a number{}; or classes, in the order of {}", label.name, ends,
                          classes),
      .publishes = true};
}

Question ClassesQuestion(const data::ColumnSketch& label) {
  const auto other = label.numbers ? fmt::format("; or \"{}\", a number's range", TargetText(label)) : "";
  return {
      .key = "classes",
      .text = fmt::format(
          "Values of {} are the classes, in this order; another spelling follows \"or\", as in: yes or y, "
          "no or n.\nOr \"{}\": a number within this range is predicted; others are an error.",
          OneLine(label.name), label.numbers ? TargetText(label) : "target LOW HIGH"),
      .proposal = ClassesText(label),
      .warning = RareText(label),
      .note = fmt::format("; the values of {} in this order{}", label.name, other),
      .publishes = true};
}

Prediction PredictionOf(const std::string& answer) {
  Prediction prediction;
  const auto words = WordsOf(answer);
  if (words.size() == 3 && words[0] == "target") {
    prediction.target = {.low = ParseNumber(words[1], "target"), .high = ParseNumber(words[2], "target")};
    if (prediction.target->low >= prediction.target->high)
      throw ConfigError(fmt::format("target: found {} and {}, expected a smallest and a largest number",
                                    words[1], words[2]));
    return prediction;
  }
  prediction.classes = ParseValues(answer);
  if (prediction.classes.values.size() < 2)
    throw ConfigError(
        fmt::format("classes: found {}, expected at least two values", prediction.classes.values.size()));
  return prediction;
}

}  // namespace

Question PredictionQuestion(const data::ColumnSketch& label, const Interview& interview) {
  CheckLabel(label);
  const bool many = HasManyValues(label);
  if (label.numbers && (many || !label.whole || AreRatings(label))) return TargetQuestion(label);
  if (many && !interview.Knows("classes")) {
    throw ConfigError(
        fmt::format("label: column \"{}\" has more than {} texts, expected numbers, or classes; an answer "
                    "\"classes\" names others",
                    label.name, kMaxClasses));
  }
  return ClassesQuestion(label);
}

Prediction AskPrediction(const Question& question, Interview& interview) {
  return AskFor(interview, question, PredictionOf);
}

std::string PredictionToml(const std::string& column, const Prediction& prediction) {
  if (const auto& range = prediction.target) {
    return fmt::format("\n[data.target]\ncolumn = {}\nlow = {}\nhigh = {}\n", TomlString(column), range->low,
                       range->high);
  }
  const auto& classes = prediction.classes;
  auto text = fmt::format("\n[data.label]\ncolumn = {}\nvalues = {}\n", TomlString(column),
                          TomlValue(classes.values));
  if (classes.numeric()) text += "numeric = true\n";
  if (!classes.aliases.empty()) text += fmt::format("aliases = {}\n", TomlValue(classes.aliases));
  return text;
}

}  // namespace trefoil::jobs

#pragma once
#include <optional>
#include <string>

#include "data/columns/target.h"
#include "data/sketch/table_sketch.h"
#include "jobs/draft/interview.h"
#include "jobs/draft/value_list.h"

namespace trefoil::jobs {

/// What is predicted: one of these classes, or a number of this range.
struct Prediction {
  ValueList classes{};
  std::optional<data::TargetRange> target{};
};

/// The question for the classes of a label, or the range of its numbers. A range is proposed of numbers that
/// are not whole, of more than 20 whole ones, and of ratings: six or more of which the smallest and the
/// largest are rare, each in less than a quarter of the rows that the most frequent one has; else the values
/// as classes, and text and note name the other form. Throws ConfigError for a label with missing values, of
/// one value, or of too many texts.
[[nodiscard]] Question PredictionQuestion(const data::ColumnSketch& label, const Interview& interview);

/// Throws ConfigError as Interview.
[[nodiscard]] Prediction AskPrediction(const Question& question, Interview& interview);

/// [data.target] or [data.label] of a job file.
[[nodiscard]] std::string PredictionToml(const std::string& column, const Prediction& prediction);

}  // namespace trefoil::jobs

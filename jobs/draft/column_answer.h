#pragma once
#include <string>

#include "data/dataset/spec.h"
#include "data/sketch/table_sketch.h"

namespace trefoil::jobs {

// What becomes of a column, as an answer says it:
//   number MEAN SCALE           most values lie within MEAN - SCALE and MEAN + SCALE
//   range LEAST MOST            the same of values from LEAST to MOST
//   category VALUES             as ParseValues() takes them
//   date FORMAT MEAN SCALE      days since 2000-01-01
//   ignore

/// What the file suggests, with numbers rounded: constants and running numbers are ignored, and texts of which there are
/// too many; whole numbers of three to five values are categories.
[[nodiscard]] std::string ColumnProposal(const data::ColumnSketch& sketch, std::size_t rows);

/// Throws ConfigError for an answer that is none of these.
[[nodiscard]] data::Column ColumnOf(const std::string& name, const std::string& answer);

/// [[data.column]] of a job file.
[[nodiscard]] std::string ColumnToml(const data::Column& column);

}  // namespace trefoil::jobs

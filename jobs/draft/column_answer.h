#pragma once
#include <string>

#include "data/dataset/spec.h"
#include "data/sketch/table_sketch.h"

namespace trefoil::jobs {

// What becomes of a column, as an answer says it:
//   number MEAN SCALE           most values lie within MEAN - SCALE and MEAN + SCALE
//   range LEAST MOST            the same of values from LEAST to MOST
//   private                     a number whose range, mean and scale the training finds, with noise
//   category VALUES             as ParseValues() takes them; any other text counts as missing
//   bin EDGE EDGE ...           between which edges a number lies
//   date FORMAT MEAN SCALE      days since 2000-01-01
//   indicator ONE OF THESE      and a feature that says where the value is missing
//   ONE OF THESE; missing MARKS by which values are missing in this column, in place of those of the whole
//   table text                        words are to be learned from
//   weight LARGEST              by what the record's error is multiplied, from 0 to LARGEST
//   ignore

/// The same as one line, for a question or an error.
inline constexpr const char* kColumnAnswers =
    "number MEAN SCALE, range LEAST MOST, private (a number's range, which the training finds with noise), "
    "category VALUES, bin EDGES or date FORMAT MEAN SCALE (each with "
    "\"indicator\" before it, for a feature that says where the value is missing, and \"; missing MARKS\" "
    "behind "
    "it, for marks of its own), text, weight LARGEST or ignore";

/// What the file suggests, with numbers rounded: constants are ignored, and what names records, and texts of
/// which there are too many; whole numbers of three to five values are categories. With missing values it has
/// an indicator, and with a mark that is none of the usual ones its marks.
[[nodiscard]] std::string ColumnProposal(const data::ColumnSketch& sketch, std::size_t rows);

/// How many values of a column are rare, as a part of a question: such a one tells of its rows. Empty where
/// none is.
[[nodiscard]] std::string RareText(const data::ColumnSketch& sketch);

/// That a column's own mark is rare, likewise: then it may be a typing error.
[[nodiscard]] std::string RareMarkText(const data::ColumnSketch& sketch);

/// Throws ConfigError for an answer that is none of these.
[[nodiscard]] data::Column ColumnOf(const std::string& name, const std::string& answer);

/// [[data.column]] of a job file. `standardised`: of numbers a training finds mean and scale.
[[nodiscard]] std::string ColumnToml(const data::Column& column, bool standardised);

}  // namespace trefoil::jobs

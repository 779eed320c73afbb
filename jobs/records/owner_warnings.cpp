#include "jobs/records/owner_warnings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "data/columns/feature_columns.h"
#include "data/dealing/repeated_rows.h"
#include "jobs/evaluation/classify.h"
#include "jobs/records/row_norm.h"

namespace trefoil::jobs {
namespace {

/// A row that was shortened to a norm lies within this part below it: it is rounded to float, downwards.
constexpr double kAtTheNorm = 1e-6;

using Lines = std::vector<std::string>;

std::string NameOfClass(const data::DataSpec& spec, std::size_t number) {
  return number < spec.label.values.size() ? "\"" + spec.label.values[number] + "\"" : std::to_string(number);
}

void AddClasses(const data::DataSpec& spec, const std::vector<int>& classes, Lines& lines) {
  if (classes.empty() || spec.target) return;
  std::vector<bool> seen(static_cast<std::size_t>(spec.classes));
  for (const int one : classes) seen.at(static_cast<std::size_t>(one)) = true;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k])
      lines.push_back(
          fmt::format("no row is of the declared class {}; a job without it would tell that nobody here is",
                      NameOfClass(spec, k)));
  }
}

/// Of one column, whose first feature has this number. Scaling a row leaves its zeros where they are.
void AddUnused(const data::Column& column, const std::vector<data::FeatureColumn>& features,
               const data::Matrix& x, Eigen::Index first, Lines& lines) {
  const auto width = data::WidthOf(column) - (column.missing_indicator ? 1 : 0);
  for (Eigen::Index k = first; k < first + width; ++k) {
    if ((x.col(k).array() != 0).any()) continue;
    const auto& value = features[static_cast<std::size_t>(k)].value;
    const bool bin = column.kind == data::ColumnKind::kBin;
    lines.push_back(
        fmt::format("no row {} the declared {} of column \"{}\"; a job without it would tell "
                    "that no row here {}",
                    bin ? "is in" : "has", bin ? "bin \"" + value + "\"" : "value \"" + value + "\"",
                    column.name, bin ? "is" : "has it"));
  }
  // With `fill` they have its feature, and only the indicator tells.
  if (column.unknown != data::UnknownValue::kMissing || (column.fill && !column.missing_indicator)) return;
  const auto none = column.missing_indicator
                        ? (x.col(first + width).array() != 0).count()
                        : (x.middleCols(first, width).array() == 0).rowwise().all().count();
  if (10 * none >= x.rows())
    lines.push_back(
        fmt::format("{} of {} rows have none of the declared values of column \"{}\", or no value, and count "
                    "as missing; a job "
                    "that declares others would tell that somebody here has them",
                    none, x.rows(), column.name));
}

void AddRows(std::int64_t declared, std::int64_t found, Lines& lines) {
  if (2 * found >= declared) return;
  lines.push_back(fmt::format(
      "data.rows declares {} rows for this party, and its file has {}: each takes memory and time "
      "as if it were there; a job that declares fewer would tell about how many there are",
      declared, found));
}

/// The rule that "auto" goes by shortens a quarter of the rows of many tables: of such a norm half of them is
/// worth a line, and of many columns, too. Rows of many numbers that are no table, such as images, are
/// brought to one length on purpose.
void AddShortened(const RecordSchema& schema, const data::Matrix& x, Lines& lines) {
  const bool few = x.cols() <= kFewFeatures;
  if (!few && schema.data.format != data::Format::kCsv) return;
  const double row_norm = schema.features.row_norm;
  const bool by_rule = row_norm >= UsualRowNorm(schema.data, schema.features.standardise.on);
  const auto at_norm = (x.cast<double>().rowwise().norm().array() >= row_norm * (1 - kAtTheNorm)).count();
  if ((few && !by_rule ? 10 : 2) * at_norm < x.rows()) return;
  lines.push_back(fmt::format(
      "{} of {} rows have reached features.row_norm, {}, to which longer rows are shortened: what "
      "their lengths say is lost; a job with another one would tell that many rows here are long",
      at_norm, x.rows(), row_norm));
}

}  // namespace

std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party, const ml::OwnRecords& own) {
  const auto spec = schema.data.vertical ? data::PartOf(schema.data, party) : schema.data;
  Lines lines;
  AddRows(schema.data.rows.at(static_cast<std::size_t>(party)), own.rows(), lines);
  if (own.rows() == 0) return lines;
  AddClasses(schema.data, own.y, lines);
  if (own.stored || schema.features.extraction.method != data::FeatureMethod::kNone) return lines;
  for (auto& line : ValueWarnings(spec, own.x)) lines.push_back(std::move(line));
  if (!schema.data.vertical) AddShortened(schema, own.x, lines);
  return lines;
}

std::vector<std::string> ValueWarnings(const data::DataSpec& spec, const data::Matrix& x) {
  Lines lines;
  const auto features = data::FeatureColumns(spec);
  Eigen::Index first = 0;
  for (const auto& column : spec.columns) {
    if (column.name == spec.label.column) continue;
    if (column.kind == data::ColumnKind::kCategory || column.kind == data::ColumnKind::kBin)
      AddUnused(column, features, x, first, lines);
    first += data::WidthOf(column);
  }
  return lines;
}

std::vector<std::string> RowsWarning(std::int64_t declared, std::int64_t found) {
  Lines lines;
  AddRows(declared, found, lines);
  return lines;
}

std::vector<std::string> OwnerWarnings(const RecordSchema& schema, int party,
                                       const std::vector<int>& classes) {
  Lines lines;
  AddRows(schema.data.rows.at(static_cast<std::size_t>(party)), static_cast<std::int64_t>(classes.size()),
          lines);
  AddClasses(schema.data, classes, lines);
  return lines;
}

std::vector<std::string> OwnerWarnings(std::int64_t declared, const std::vector<std::string>& values,
                                       const ValueCounts& found) {
  Lines lines;
  AddRows(declared, found.records, lines);
  if (found.records == 0) return lines;
  const auto& counts = found.of_values;
  const auto missing = std::count(counts.begin(), counts.end(), 0);
  if (missing > 0) {
    const auto first = static_cast<std::size_t>(std::find(counts.begin(), counts.end(), 0) - counts.begin());
    lines.push_back(
        fmt::format("no record has {} of the {} declared values, \"{}\" first of all; a job without them "
                    "would tell that no record "
                    "here has them",
                    missing, values.size(), values.at(first)));
  }
  const auto without = found.records - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (without * 10 >= found.records)
    lines.push_back(
        fmt::format("{} of {} records have none of the declared values, and count for none; a job that "
                    "declares theirs would tell "
                    "that somebody here has them",
                    without, found.records));
  return lines;
}

std::vector<std::string> OneClassWarning(const RecordSchema& schema, const ml::Model& model,
                                         std::span<const ml::OwnRecords> own, const std::string& mend,
                                         double decision) {
  if (schema.data.target) return {};
  std::vector<std::int64_t> of_class(static_cast<std::size_t>(schema.data.classes));
  std::optional<int> taken_for;
  std::int64_t all = 0;
  for (const auto& records : own) {
    if (records.stored) return {};
    for (Eigen::Index row = 0; row < records.x.rows(); ++row, ++all) {
      ++of_class.at(static_cast<std::size_t>(records.y[static_cast<std::size_t>(row)]));
      const int found = ClassOf(Logits(model, records.x.row(row).cast<double>()), decision);
      if (taken_for.value_or(found) != found) return {};
      taken_for = found;
    }
  }
  if (!taken_for || of_class.at(static_cast<std::size_t>(*taken_for)) == all) return {};
  return {fmt::format(
      "the released model takes all {} rows for class \"{}\", of which {} are; {} would tell that "
      "classes here are not told apart",
      all, ClassName(schema, *taken_for), of_class.at(static_cast<std::size_t>(*taken_for)), mend)};
}

std::vector<std::string> RepeatedRows(const RecordSchema& schema, const ml::OwnRecords& own) {
  if (schema.data.vertical) return {};
  const auto read = [&own](std::size_t row, std::span<float> out) {
    Eigen::Map<Eigen::RowVectorXf>(out.data(), static_cast<Eigen::Index>(out.size())) =
        own.Row(static_cast<std::int64_t>(row));
  };
  const auto repeated = data::CountRepeatedRows(read, static_cast<std::size_t>(own.features()), own.y);
  if (repeated == 0) return {};
  return {fmt::format(
      "{} of this party's {} records repeat an earlier one; if several are of one "
      "person, epsilon is for one of them, but for privacy.unit \"group\"; a job of that unit would tell "
      "that somebody may have several",
      repeated, own.y.size())};
}

}  // namespace trefoil::jobs

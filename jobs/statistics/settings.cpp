#include "jobs/statistics/settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "jobs/config/common_fields.h"
#include "jobs/records/column_fields.h"
#include "jobs/records/record_fields.h"
#include "jobs/records/source_fields.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;

constexpr std::size_t kMaxCategoryValues = 1000;  // of a category: a record has a number for each in memory
constexpr Interval kWeights{.above = 1e-3, .below = 1e3};

void CheckColumn(const StatisticsColumn& s, char decimal, const Section& table) {
  const auto& column = s.column;
  if (column.kind == ColumnKind::kNumber) {
    const double range = s.high - s.low;
    if (!(range > 1e-200 && range < 1e200))
      table.Refuse("high", "a number above low, by more than 1e-200 and less than 1e200");
    const auto& edges = column.edges;
    if (!edges.empty() &&
        (edges.front() <= s.low || edges.back() >= s.high || edges.size() >= kMaxCategoryValues))
      table.Refuse("edges",
                   fmt::format("fewer than {} numbers above low and below high", kMaxCategoryValues));
  }
  if (column.kind == ColumnKind::kCategory) {
    if (column.values.empty() || column.values.size() > kMaxCategoryValues || Repeated(column.values))
      table.Refuse("values", fmt::format("1 to {} different texts", kMaxCategoryValues));
  }
  if (const auto flaw = data::FlawOf(column, decimal))
    table.Fail(flaw->key, fmt::format("found {}, expected {}", flaw->found, flaw->expected));
}

void ColumnFields(FieldVisitor& v, StatisticsColumn& s, char decimal) {
  v("name", s.column.name, Text{}, "Unique.");
  v("kind", s.column.kind,
    OneOf<ColumnKind>{{ColumnKind::kNumber, "number"},
                      {ColumnKind::kCategory, "category"},
                      {ColumnKind::kIgnore, "ignore"}},
    Default(ColumnKind::kNumber), "What the column holds; `ignore`: nothing is asked of it.");
  const bool number = s.column.kind == ColumnKind::kNumber;
  const bool category = s.column.kind == ColumnKind::kCategory;
  v.When({number, "kind \"number\""}, [&] {
    v("low", s.low, kAnyNumber,
      "The smallest number that counts as it is, public as all of the job; smaller ones count as this one.");
    v("high", s.high, kAnyNumber, "The largest one. The closer the range, the less noise.");
    v("edges", s.column.edges, Ascending{kAnyNumber}, Default(std::vector<double>{}).LeftOut().Said("none"),
      "Where `[[statistics.table]]` cuts the numbers: k edges make k + 1 values.");
  });
  v.When({category, "kind \"category\""},
         [&] { CategoryFields(v, s.column, "1 … 1,000 different ones. Another text is an error (4)."); });
  v.When({number || category, "kind \"number\" or \"category\""}, [&] { MarksField(v, s.column); });
  v.Check([&](const Section& table) { CheckColumn(s, decimal, table); });
}

void CheckColumns(const StatisticsSpec& s, const Section& table) {
  std::vector<std::string> names;
  for (const auto& one : s.columns) names.push_back(one.column.name);
  if (names.empty()) table.Refuse("column", "one [[data.column]] for each column of the file");
  if (const auto twice = Repeated(names))
    table.Fail("column", fmt::format("the column \"{}\" occurs twice, expected it once", *twice));
}

void FormatField(FieldVisitor& v, StatisticsSpec& s) {
  int csv = 0;
  v("format", csv, OneOf<int>{{0, "csv"}}, "The format of the files.");
  s.data.format = data::Format::kCsv;
}

/// What is in the files.
void TableColumnsFields(FieldVisitor& v, StatisticsSpec& s) {
  HeaderField(v, s.data);
  DialectFields(v, s.data);
  v.Tables("column", "The file's columns; without a header in their order.", s.columns,
           [&](StatisticsColumn& one) { ColumnFields(v, one, s.data.decimal); });
  v.Check([&](const Section& table) { CheckColumns(s, table); });
}

void DataFields(FieldVisitor& v, StatisticsSettings& s) {
  v("name", s.data.name, Name{}, "A name; where `local` looks.");
  FormatField(v, s);
  SourceFields(v, s.data.rows, s.store);
  TableColumnsFields(v, s);
  v.Check([&](const Section& table) {
    if (s.records() == 0) table.Refuse("rows", "at least one row in all");
    CheckPurpose(s.store, table);
  });
}

const StatisticsColumn* Find(const StatisticsSpec& s, const std::string& name) {
  const auto found = std::find_if(s.columns.begin(), s.columns.end(),
                                  [&](const auto& one) { return one.column.name == name; });
  return found == s.columns.end() ? nullptr : &*found;
}

void CheckNumbers(const StatisticsSpec& s, const std::vector<std::string>& names, const char* key,
                  const Section& table) {
  for (const auto& name : names) {
    const auto* one = Find(s, name);
    if (one == nullptr || one->column.kind != ColumnKind::kNumber)
      table.Fail(key, fmt::format("found \"{}\", expected names of columns of kind \"number\"", name));
  }
  if (const auto twice = Repeated(names)) table.Fail(key, fmt::format("found \"{}\" twice", *twice));
}

/// What a table may count: a category, or a number that is cut.
void CheckCounted(const StatisticsSpec& s, const std::string& name, const char* key, const Section& table) {
  const auto* one = Find(s, name);
  if (one == nullptr || (one->column.kind != ColumnKind::kCategory && one->column.edges.empty()))
    table.Refuse(key, "the name of a column of kind \"category\", or of numbers with edges");
}

void TableFields(FieldVisitor& v, CountedTable& s, const StatisticsSpec& job) {
  v("rows", s.rows, Text{},
    "A column of kind `category`, or of numbers with `edges`: its values are counted.");
  v("columns", s.columns, Text{}, Required{false},
    "Another one, with which pairs of values are counted; without it the values of one column.");
  v.Check([&](const Section& table) {
    CheckCounted(job, s.rows, "rows", table);
    if (s.columns) CheckCounted(job, *s.columns, "columns", table);
    if (s.columns == s.rows) table.Refuse("columns", "another column than rows");
  });
}

std::vector<std::string> NumberColumns(const StatisticsSpec& s) {
  std::vector<std::string> names;
  for (const auto& one : s.columns) {
    if (one.column.kind == ColumnKind::kNumber) names.push_back(one.column.name);
  }
  return names;
}

void CheckAsked(const StatisticsSpec& s, const Section& table) {
  CheckNumbers(s, s.moments, "moments", table);
  CheckNumbers(s, s.quantiles, "quantiles", table);
  CheckNumbers(s, s.correlations, "correlations", table);
  if (s.correlations.size() == 1) table.Refuse("correlations", "two columns or more, or none");
  if (s.moments.empty() && s.quantiles.empty() && s.correlations.empty() && s.tables.empty())
    table.Refuse("moments", "a column in it, or something else to release");
}

/// `probabilities`: of a job, which says which quantiles it reads off the bins.
void AskedFields(FieldVisitor& v, StatisticsSpec& s, std::vector<double>* probabilities) {
  v("moments", s.moments, Texts{}, Default(NumberColumns(s)).Said("all of kind `number`"),
    "Columns whose mean and standard deviation are released.");
  v("quantiles", s.quantiles, Texts{}, Default(NumberColumns(s)).Said("all of kind `number`"),
    "Columns whose quantiles are released, and their counts by bins of equal width.");
  if (probabilities != nullptr)
    v("probabilities", *probabilities, Ascending{kDeltas},
      Default(std::vector<double>{0.05, 0.25, 0.5, 0.75, 0.95}), "Which quantiles; 0.5 is the median.");
  v("bins", s.bins, WholeInterval{2, 4096}, Default(64),
    "Between `low` and `high` of each column that has quantiles.");
  v("correlations", s.correlations, Texts{}, Default(std::vector<std::string>{}),
    "Columns of whose every pair the correlation is released; their moments are, too.");
  v.Tables("table", "Counts of values, or of pairs of values.", s.tables,
           [&](CountedTable& one) { TableFields(v, one, s); });
  v.Table("weights",
          "How the budget is shared. A number's noise falls with the root of its weight; with equal weights "
          "all numbers have the same noise.",
          [&] {
            constexpr OfEachStatistic<const char*> kHelp{
                "Of how many records there are, which moments need.", "Of each column's moments.",
                "Of each column's bins.", "Of each pair.", "Of each table."};
            for (std::size_t k = 0; k < kStatistics.size(); ++k)
              v(NameOf(kStatistics.at(k)), s.weights.at(k), kWeights, Default(1.0), kHelp.at(k));
          });
  v.Check([&](const Section& table) { CheckAsked(s, table); });
}

}  // namespace

const char* NameOf(Statistic statistic) {
  constexpr OfEachStatistic<const char*> kNames{"count", "moments", "quantiles", "correlations", "tables"};
  return kNames.at(static_cast<std::size_t>(statistic));
}

void Fields(FieldVisitor& v, StatisticsSettings& s) {
  HeaderFields(v, "statistics", s.name);
  v.Table("data", "The owners' records.", [&] { DataFields(v, s); });
  v.Table("statistics", "What is released of them.", [&] { AskedFields(v, s, &s.probabilities); });
  GaussianTables(v, s,
                 {.privacy = "What all of it together may tell.",
                  .target = "The target of all statistics together, or `sigma`.",
                  .sigma = "The noise multiplier: of any two parties' noise together.",
                  .to = "Who gets the statistics.",
                  .local = "How `local` cuts the data; all records have one label. Not hashed."});
}

void Fields(FieldVisitor& v, StatisticsSpec& s) {
  FormatField(v, s);
  TableColumnsFields(v, s);
  AskedFields(v, s, nullptr);
}

std::size_t ColumnOf(const StatisticsSpec& job, const std::string& name) {
  const auto* found = Find(job, name);
  Require(found != nullptr, "ColumnOf: a column of the job");
  return static_cast<std::size_t>(found - job.columns.data());
}

bool MayMiss(const StatisticsSpec& job, const data::Column& column) {
  return !(column.missing ? *column.missing : job.data.missing).empty();
}

}  // namespace trefoil::jobs

#include "jobs/draft/records_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "jobs/config/domains.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/draft/column_answer.h"
#include "jobs/draft/prediction.h"
#include "jobs/draft/value_list.h"
#include "jobs/records/row_norm.h"

namespace trefoil::jobs {
namespace {

const data::ColumnSketch* Find(const data::TableSketch& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const auto& column) { return column.name == name; });
  if (found != table.columns.end()) return &*found;
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    if (name == std::to_string(k + 1)) return &table.columns[k];
  }
  return nullptr;
}

std::string NamesOf(const data::TableSketch& table) {
  std::vector<std::string> names;
  for (const auto& column : table.columns) names.push_back(column.name);
  return ValuesText(names);
}

/// How the file is written is asked in one question.
void AskForm(const data::TableSketch& table, Interview& interview) {
  const auto& [separator, encoding] = table.form.dialect;
  const char* encodings[] = {"UTF-8", "Latin-1", "Windows-1252"};
  std::string form = fmt::format(
      "{} between fields, decimal {}, {}{}", separator == '\t' ? "tab" : fmt::format("'{}'", separator),
      table.form.decimal == ',' ? "comma" : "point", table.form.header ? "a header" : "no header",
      encoding ? fmt::format(", {}", encodings[static_cast<int>(*encoding)]) : "");
  if (table.form.query) form = "what a query gives";
  const Question question{
      .key = "file",
      .text = fmt::format("How the table is written. It has {} columns: {}.\n"
                          "This becomes public in the job, as the kinds of its columns do.{}",
                          table.columns.size(), NamesOf(table),
                          table.form.query ? "" : " (Wrong? --header yes|no)"),
      .proposal = form,
      .publishes = true};
  AskFor(interview, question, [&](const std::string& answer) {
    if (answer != form)
      throw ConfigError(
          fmt::format("file: found \"{}\", expected yes to \"{}\", or an end here (Ctrl-C)", answer, form));
    return true;
  });
}

const data::ColumnSketch& AskLabel(const data::TableSketch& table, Interview& interview) {
  // A separator at each line's end makes a column without values.
  const auto has_values = [](const auto& column) { return column.more_values || !column.values.empty(); };
  const auto last = std::find_if(table.columns.rbegin(), table.columns.rend(), has_values);
  const Question question{.key = "label",
                          .text = "Which column is to be predicted?",
                          .proposal = last == table.columns.rend() ? table.columns.back().name : last->name};
  return AskFor(interview, question, [&](const std::string& answer) -> const data::ColumnSketch& {
    const auto* found = Find(table, answer);
    if (found == nullptr)
      throw ConfigError(
          fmt::format("label: found \"{}\", expected one of the columns {}", answer, NamesOf(table)));
    return *found;
  });
}

std::vector<std::string> AskMissing(const data::TableSketch& table, Interview& interview) {
  const auto& found = table.form.missing;
  const Question question{
      .key = "missing",
      .text =
          "How missing values are written, with a comma between several ways; of columns with marks of "
          "their own those count.",
      .proposal = found.empty() ? "?" : ValuesText(found),
      .publishes = !found.empty()};
  return AskFor(interview, question, [](const std::string& answer) { return ParseValues(answer).values; });
}

Question ColumnQuestion(const data::ColumnSketch& column, std::size_t rows) {
  return {.key = "column " + column.name,
          .text = fmt::format("Column {}: {}", column.name, kColumnAnswers),
          .proposal = ColumnProposal(column, rows),
          .publishes = true};
}

const data::ColumnSketch& SketchOf(const data::TableSketch& table, const Question& question) {
  return *Find(table, question.key.substr(question.key.find(' ') + 1));
}

/// Whether all proposals for columns may become public as they are.
bool AskColumns(const std::vector<Question>& questions, const data::TableSketch& table,
                Interview& interview) {
  const auto known = [&](const Question& question) { return interview.Knows(question.key); };
  if (std::all_of(questions.begin(), questions.end(), known)) return true;
  std::string text = "Columns as the file suggests them, values and numbers rounded:\n";
  for (const auto& question : questions) {
    const auto& column = SketchOf(table, question);
    const bool category = question.proposal.find("category ") != std::string::npos;
    text += fmt::format("  {}: {}{}{}\n", column.name, question.proposal, category ? RareText(column) : "",
                        question.proposal == "ignore" ? "" : RareMarkText(column));
  }
  const Question all{.key = "columns",
                     .text = text + "With yes all of this becomes public; with no each column is asked.",
                     .proposal = "yes",
                     .publishes = true,
                     .kept = false};
  return AskFor(interview, all, [](const std::string& answer) {
    if (answer != "yes" && answer != "no")
      throw ConfigError("columns: found \"" + answer + "\", expected yes or no");
    return answer == "yes";
  });
}

std::vector<data::Column> AskEach(const data::TableSketch& table, const data::ColumnSketch& label,
                                  Interview& interview) {
  std::vector<Question> questions;
  for (const auto& column : table.columns) {
    if (&column != &label) questions.push_back(ColumnQuestion(column, table.rows));
  }
  // Nothing is answered yet, and nothing else would be learned from.
  const auto open = [&](const Question& question) {
    return question.proposal == "ignore" && !interview.Knows(question.key);
  };
  if (std::all_of(questions.begin(), questions.end(), open)) {
    for (auto& question : questions) {
      const auto& column = SketchOf(table, question);
      if (column.prose && (column.more_values || column.values.size() > 1)) question.proposal = "text";
    }
  }
  const bool agreed = AskColumns(questions, table, interview);
  std::vector<data::Column> columns;
  for (auto& question : questions) {
    question.agreed = agreed;
    const auto name = question.key.substr(question.key.find(' ') + 1);
    columns.push_back(
        AskFor(interview, question, [&](const std::string& answer) { return ColumnOf(name, answer); }));
  }
  return columns;
}

void CheckColumns(const std::vector<data::Column>& columns) {
  const auto weights = std::count_if(columns.begin(), columns.end(), [](const data::Column& column) {
    return column.kind == data::ColumnKind::kWeight;
  });
  if (weights > 1) throw ConfigError("columns: found several of kind weight, expected one at most");
  const auto ignored = [](const data::Column& column) {
    return column.kind == data::ColumnKind::kIgnore || column.kind == data::ColumnKind::kWeight;
  };
  if (std::all_of(columns.begin(), columns.end(), ignored))
    throw ConfigError(
        "columns: found none beside the label to learn from, expected one at least; constants, "
        "numbers of records and free texts are ignored (an answer \"text\" takes the words of one)");
}

/// Up to two digits.
std::int64_t RoundedUp(std::size_t rows) {
  std::int64_t unit = 10;
  const auto number = static_cast<std::int64_t>(rows);
  while (number / unit >= 100) unit *= 10;
  return (number + unit - 1) / unit * unit;
}

std::array<std::int64_t, 3> AskRows(const data::TableSketch& table, Interview& interview) {
  bool all = true;
  if (!interview.Knows("rows")) {
    const Question whose{.key = "share",
                         .text = "Does the file hold the rows of all three parties, or of one? (all, one)",
                         .proposal = "all",
                         .kept = false};
    all = AskFor(interview, whose, [](const std::string& answer) {
      if (answer != "all" && answer != "one")
        throw ConfigError("share: found \"" + answer + "\", expected all or one");
      return answer == "all";
    });
  }
  const auto most = RoundedUp(all ? (table.rows + 2) / 3 : table.rows);
  const Question question{
      .key = "rows",
      .text = "Rows that parties 0, 1 and 2 may have at most (this is rounded up from the file's).",
      .proposal = fmt::format("{0}, {0}, {0}", most),
      .publishes = true};
  return AskFor(interview, question, [](const std::string& answer) {
    const auto words = WordsOf(answer);
    std::array<std::int64_t, 3> rows{};
    if (words.size() != rows.size())
      throw ConfigError(fmt::format("rows: found {} numbers, expected three", words.size()));
    for (std::size_t party = 0; party < rows.size(); ++party) {
      const double number = ParseNumber(words[party], "rows");
      if (number < 0 || number > 1e9 || number != std::floor(number))
        throw ConfigError(
            fmt::format("rows: found {}, expected a whole number from 0 to 10^9", words[party]));
      rows.at(party) = static_cast<std::int64_t>(number);
    }
    return rows;
  });
}

std::string AskName(const std::string& proposal, Interview& interview) {
  const Question question{
      .key = "name", .text = "The job's name, of letters, digits, '.', '_' and '-'.", .proposal = proposal};
  return AskFor(interview, question, [](const std::string& answer) {
    if (!IsName(answer))
      throw ConfigError(
          "name: found \"" + answer +
          "\", expected letters, digits, '.', '_' and '-', at most 64, the first a letter or digit");
    return answer;
  });
}

/// [data] without its columns and its label.
std::string DataToml(const RecordsDraft& draft, const data::FileForm& form,
                     const std::vector<std::string>& missing) {
  auto text = fmt::format("\n[data]\nname = {0}\nformat = \"csv\"\nrows = [{1}]\nheader = {2}\n",
                          TomlString(draft.name), fmt::join(draft.rows, ", "), form.header);
  text += fmt::format("missing = {}\n", TomlValue(missing));
  const auto& [separator, encoding] = form.dialect;
  if (separator != ',')
    text +=
        fmt::format("separator = {}\n", TomlString(separator == '\t' ? "tab" : std::string(1, separator)));
  if (form.decimal != '.') text += fmt::format("decimal = \"{}\"\n", form.decimal);
  constexpr std::array kEncodings{"utf-8", "latin-1", "windows-1252"};
  if (encoding)
    text += fmt::format("encoding = \"{}\"\n", kEncodings.at(static_cast<std::size_t>(*encoding)));
  return text;
}

/// Of texts single words, hashed to a quarter of the rows that there may be: noise is the same in each
/// column, and words that share one cost little.
std::string FeaturesToml(const RecordsDraft& draft, const std::vector<data::Column>& columns) {
  const auto is_text = [](const data::Column& column) { return column.kind == data::ColumnKind::kText; };
  if (std::none_of(columns.begin(), columns.end(), is_text))
    return fmt::format("\n[features]\nrow_norm = {:g}  # about as long as rows are\n", draft.row_norm);
  const std::int64_t rows = std::accumulate(draft.rows.begin(), draft.rows.end(), std::int64_t{0});
  std::int64_t dimension = 256;
  while (dimension < 8192 && 4 * dimension < rows) dimension *= 2;
  return fmt::format(
      "\n[features]\nmethod = \"hash-text\"\ndimension = {}\ncharacters = []\nwords = [1, 1]\nbinary = true\n"
      "row_norm = 4  # rows are scaled to this length\n",
      dimension);
}

}  // namespace

RecordsDraft DraftRecords(const DraftSource& source, Interview& interview) {
  const auto& table = source.table;
  RecordsDraft draft;
  AskForm(table, interview);
  const auto& label = AskLabel(table, interview);
  const auto prediction = AskPrediction(label, interview);
  draft.target = prediction.target;
  auto columns = AskEach(table, label, interview);
  CheckColumns(columns);
  const auto missing = AskMissing(table, interview);
  draft.rows = AskRows(table, interview);
  draft.name = AskName(source.name, interview);
  draft.row_norm = UsualRowNorm(columns, false);
  // A label that is not the last column of a file without a header is known by its place.
  if (!table.form.header && &label != &table.columns.back()) {
    data::Column place{.name = label.name, .kind = data::ColumnKind::kIgnore, .values = {}};
    columns.insert(columns.begin() + (&label - table.columns.data()), std::move(place));
  }
  draft.toml = DataToml(draft, table.form, missing);
  if (!draft.target) draft.toml += fmt::format("classes = {}\n", prediction.classes.values.size());
  for (const auto& column : columns) draft.toml += ColumnToml(column);
  draft.toml += PredictionToml(label.name, prediction);
  draft.toml += FeaturesToml(draft, columns);
  return draft;
}

}  // namespace trefoil::jobs

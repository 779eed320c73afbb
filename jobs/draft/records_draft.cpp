#include "jobs/draft/records_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/error_report.h"
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
  return OneLine(ValuesText(names));
}

std::string FormText(const data::FileForm& form) {
  if (form.query) return "what a query gives";
  const auto& [separator, encoding] = form.dialect;
  const char* encodings[] = {"UTF-8", "Latin-1", "Windows-1252"};
  return fmt::format("{} between fields, decimal {}, {}{}",
                     separator == '\t' ? "tab" : fmt::format("'{}'", separator),
                     form.decimal == ',' ? "comma" : "point", form.header ? "a header" : "no header",
                     encoding ? fmt::format(", {}", encodings[static_cast<int>(*encoding)]) : "");
}

/// How the file is written is one question.
Question FormQuestion(const data::TableSketch& table) {
  return {.key = "file",
          .text = fmt::format("How the table is written. It has {} columns: {}.\n"
                              "This becomes public in the job, as the kinds of its columns do.{}",
                              table.columns.size(), NamesOf(table),
                              table.form.query ? "" : " (Wrong? --header yes|no)"),
          .proposal = FormText(table.form),
          .publishes = true,
          .sole = true};
}

void AskForm(const Question& question, Interview& interview) {
  const bool known = interview.Knows(question.key);
  AskFor(interview, question, [&](const std::string& answer) {
    if (answer != question.proposal)
      throw ConfigError(fmt::format(
          "file: found \"{}\", expected {}\"{}\"{}", answer, known ? "" : "yes to ", question.proposal,
          known ? ", as the table is written, or no such answer" : ", or an end here (Ctrl-C)"));
    return true;
  });
}

const data::ColumnSketch& AskLabel(const data::TableSketch& table, Interview& interview) {
  // A separator at each line's end makes a column without values.
  const auto has_values = [](const auto& column) { return column.more_values || !column.values.empty(); };
  const auto last = std::find_if(table.columns.rbegin(), table.columns.rend(), has_values);
  const Question question{
      .key = "label",
      .text = fmt::format("The table has {} columns: {} ({}).{}\nWhich is to be predicted?",
                          table.columns.size(), NamesOf(table), FormText(table.form),
                          table.form.query ? "" : " Wrong? --header yes|no"),
      .proposal = last == table.columns.rend() ? table.columns.back().name : last->name,
      .any_word = true};
  return AskFor(interview, question, [&](const std::string& answer) -> const data::ColumnSketch& {
    const auto* found = Find(table, answer);
    if (found == nullptr)
      throw ConfigError(
          fmt::format("label: found \"{}\", expected one of the columns {}", answer, NamesOf(table)));
    return *found;
  });
}

Question MissingQuestion(const data::TableSketch& table) {
  const auto& found = table.form.missing;
  return {.key = "missing",
          .text =
              "How missing values are written, with a comma between several ways; of columns with marks of "
              "their own those count.",
          .proposal = found.empty() ? "?" : ValuesText(found),
          .note = "; how missing values are written",
          .publishes = !found.empty()};
}

Question ColumnQuestion(const data::ColumnSketch& column, std::size_t rows) {
  const auto proposal = ColumnProposal(column, rows);
  const bool category = proposal.find("category ") != std::string::npos;
  return {.key = "column " + column.name,
          .text = OneLine("Column " + column.name),
          .proposal = proposal,
          .warning = (category ? RareText(column) : "") + (proposal == "ignore" ? "" : RareMarkText(column)),
          .publishes = true};
}

std::vector<Question> ColumnQuestions(const data::TableSketch& table, const data::ColumnSketch& label,
                                      const Interview& interview) {
  std::vector<Question> questions;
  std::vector<const data::ColumnSketch*> columns;
  for (const auto& column : table.columns) {
    if (&column == &label) continue;
    questions.push_back(ColumnQuestion(column, table.rows));
    columns.push_back(&column);
  }
  // Nothing is answered yet, and nothing else would be learned from.
  const auto open = [&](const Question& question) {
    return question.proposal == "ignore" && !interview.Knows(question.key);
  };
  if (std::all_of(questions.begin(), questions.end(), open)) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto& column = *columns[k];
      if (column.prose && (column.more_values || column.values.size() > 1)) questions[k].proposal = "text";
    }
  }
  return questions;
}

/// Those that are neither agreed to nor have a known answer.
std::vector<Question*> OpenOf(std::vector<Question*> questions, const Interview& interview) {
  std::erase_if(questions, [&](const Question* one) { return one->agreed || interview.Knows(one->key); });
  return questions;
}

/// A line each, of what becomes public with a yes.
std::string ListOf(const std::vector<Question*>& questions) {
  std::string list;
  // A value that moves the terminal's cursor would hide from the list what it publishes.
  for (const auto* one : questions)
    list += OneLine(fmt::format("  {}: {}{}{}", one->key, one->proposal, one->warning, one->note)) + '\n';
  return list;
}

/// One question, whether the proposals of all these may become public as they are.
void AgreeTo(const std::vector<Question*>& questions, const std::string& key, const std::string& text,
             Interview& interview) {
  const Question question{
      .key = key, .text = text, .proposal = "yes", .yes_or_no = true, .publishes = true, .kept = false};
  const bool agreed = AskFor(interview, question, [&](const std::string& answer) {
    if (answer != "yes" && answer != "no")
      throw ConfigError(fmt::format("{}: found \"{}\", expected yes or no", key, answer));
    return answer == "yes";
  });
  for (auto* one : questions) one->agreed = agreed;
}

/// After a no to the list, which has them all.
void AskColumnsTogether(std::vector<Question>& questions, Interview& interview) {
  std::vector<Question*> all;
  for (auto& question : questions) all.push_back(&question);
  const auto open = OpenOf(all, interview);
  if (open.size() > 1)
    AgreeTo(open, "columns",
            "The columns, as the list above has them: may all of that become public? With no each column is "
            "asked.",
            interview);
}

/// As it is answered, of a column whose range a training finds, or that cannot stand beside one.
std::string_view AnswerOf(const data::Column& column) {
  if (column.private_range) return "private";
  return column.kind == data::ColumnKind::kText ? "text" : "number MEAN SCALE";
}

/// Throws ConfigError where a training would find the range of one of these numbers, and of another, which
/// has none, not even the mean: it finds those of all or of none, and of no text.
void CheckRanges(const std::vector<data::Column>& columns, const data::Column& last, bool query) {
  if (last.private_range && query)
    throw ConfigError(last.name +
                      ": found private, expected number or range: what a query gives is read once, and would "
                      "be read again for it");
  const auto is_text = [](const data::Column& column) { return column.kind == data::ColumnKind::kText; };
  const auto clashes = [&](const data::Column& column) {
    return is_text(column) ||
           (column.kind == data::ColumnKind::kNumber && !column.private_range && !column.low);
  };
  for (const auto& column : columns) {
    if ((column.private_range && clashes(last)) || (clashes(column) && last.private_range))
      throw ConfigError(fmt::format("{}: found {}, expected {}, as {} is {}", last.name, AnswerOf(last),
                                    last.private_range ? "number MEAN SCALE or range LEAST MOST"
                                    : is_text(last)    ? "another answer (ignore, category)"
                                                       : "private or range LEAST MOST",
                                    column.name, AnswerOf(column)));
  }
}

std::vector<data::Column> AskColumns(const std::vector<Question>& questions, bool query,
                                     Interview& interview) {
  std::vector<data::Column> columns;
  bool explained = false;
  for (auto question : questions) {
    const auto name = question.key.substr(question.key.find(' ') + 1);
    if (!explained && !question.agreed && !interview.Knows(question.key)) {
      question.text = fmt::format("An answer to a column is {}.\n{}", kColumnAnswers, question.text);
      explained = true;
    }
    columns.push_back(AskFor(interview, question, [&](const std::string& answer) {
      auto column = ColumnOf(name, answer);
      CheckRanges(columns, column, query);
      return column;
    }));
  }
  return columns;
}

/// Whether the training finds means and scales of numbers.
bool AreStandardised(const std::vector<data::Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column.private_range; });
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

/// Whether the file's rows are those of all three parties, where that decides what is proposed.
bool AskShare(Interview& interview) {
  if (interview.Knows("rows")) return true;
  const Question whose{.key = "share",
                       .text = "Does the table hold the rows of all three parties, or of one? (all, one)",
                       .proposal = "all",
                       .kept = false};
  return AskFor(interview, whose, [](const std::string& answer) {
    if (answer != "all" && answer != "one")
      throw ConfigError("share: found \"" + answer + "\", expected all or one");
    return answer == "all";
  });
}

Question RowsQuestion(const data::TableSketch& table, bool all) {
  const auto most = RoundedUp(all ? (table.rows + 2) / 3 : table.rows);
  return {.key = "rows",
          .text = "Rows that parties 0, 1 and 2 may have at most (this is rounded up from the table's).",
          .proposal = fmt::format("{0}, {0}, {0}", most),
          .note = "; rows that each party may have at most, rounded up from the table's",
          .publishes = true};
}

std::array<std::int64_t, 3> AskRows(const Question& question, Interview& interview) {
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

Question NameQuestion(const std::string& proposal) {
  return {.key = "name",
          .text = "The job's name, of letters, digits, '.', '_' and '-' (this is the file's).",
          .proposal = proposal,
          .note = "; the job's name, from the file's",
          .publishes = true};
}

std::string AskName(const Question& question, Interview& interview) {
  return AskFor(interview, question, [](const std::string& answer) {
    if (!IsName(answer))
      throw ConfigError(
          "name: found \"" + answer +
          "\", expected letters, digits, '.', '_' and '-', at most 64, the first a letter or digit");
    return answer;
  });
}

/// All that a job takes from the file but which column is predicted.
struct FileQuestions {
  Question form, prediction;
  std::vector<Question> columns;
  Question missing, rows, name;
  bool listed_columns_alone = false;
};

/// Before the first question: it is about the file at hand, so that no answer to it is known.
void RefuseKnown(const Interview& interview) {
  for (const auto* key : {"share", "public", "columns"}) {
    if (interview.Knows(key))
      throw ConfigError(fmt::format("answer \"{}\": found one beforehand, expected none to it", key));
  }
}

FileQuestions QuestionsOf(const DraftSource& source, const data::ColumnSketch& label, Interview& interview) {
  const auto& table = source.table;
  FileQuestions questions{.form = FormQuestion(table),
                          .prediction = PredictionQuestion(label, interview),
                          .columns = ColumnQuestions(table, label, interview),
                          .missing = MissingQuestion(table),
                          .rows = RowsQuestion(table, AskShare(interview)),
                          .name = NameQuestion(source.name)};
  std::vector<Question*> all{&questions.form, &questions.prediction};
  for (auto& column : questions.columns) all.push_back(&column);
  all.insert(all.end(), {&questions.missing, &questions.rows, &questions.name});
  const auto open = OpenOf(all, interview);
  if (open.size() < 2) return questions;
  AgreeTo(
      open, "public",
      "This of the file becomes public in the job, with the names and kinds of its columns; means, scales "
      "and rows are rounded, values, classes and marks are as they are:\n" +
          ListOf(open) +
          "Is all of it public knowledge, or may it be? With yes it becomes public; with no each is asked "
          "by itself.",
      interview);
  const auto is_column = [](const Question* one) { return one->key.starts_with("column "); };
  questions.listed_columns_alone = std::all_of(open.begin(), open.end(), is_column);
  return questions;
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
    return fmt::format("\n[features]\nrow_norm = {:g}  # about as long as rows are\n{}", draft.row_norm,
                       AreStandardised(columns)
                           ? "standardise = \"private\"  # finds ranges, means and scales "
                             "with noise, and pays for it with epsilon\n"
                           : "");
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
  RefuseKnown(interview);
  const auto& label = AskLabel(table, interview);
  if (interview.Knows("column " + label.name))
    throw ConfigError(
        fmt::format("answer \"column {0}\": found one, expected none: {0} is the label", label.name));
  auto questions = QuestionsOf(source, label, interview);
  AskForm(questions.form, interview);
  const auto prediction = AskPrediction(questions.prediction, interview);
  draft.target = prediction.target;
  // The same list twice would be the same no.
  if (!questions.listed_columns_alone) AskColumnsTogether(questions.columns, interview);
  auto columns = AskColumns(questions.columns, table.form.query, interview);
  CheckColumns(columns);
  const auto missing = AskFor(interview, questions.missing,
                              [](const std::string& answer) { return ParseValues(answer).values; });
  draft.rows = AskRows(questions.rows, interview);
  draft.name = AskName(questions.name, interview);
  const bool standardised = AreStandardised(columns);
  draft.row_norm = UsualRowNorm(columns, standardised);
  // A label that is not the last column of a file without a header is known by its place.
  if (!table.form.header && &label != &table.columns.back()) {
    data::Column place{.name = label.name, .kind = data::ColumnKind::kIgnore, .values = {}};
    columns.insert(columns.begin() + (&label - table.columns.data()), std::move(place));
  }
  draft.toml = DataToml(draft, table.form, missing);
  if (!draft.target) draft.toml += fmt::format("classes = {}\n", prediction.classes.values.size());
  for (const auto& column : columns) draft.toml += ColumnToml(column, standardised);
  draft.toml += PredictionToml(label.name, prediction);
  draft.toml += FeaturesToml(draft, columns);
  return draft;
}

}  // namespace trefoil::jobs

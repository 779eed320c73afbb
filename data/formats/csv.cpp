#include "data/formats/csv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

/// What becomes of one column of the file. `column` is null for the label; `offset` counts features, or
/// texts.
struct FieldPlan {
  const Column* column = nullptr;
  std::size_t offset = 0;
  std::optional<ColumnEncoder> encoder{};  ///< of features and texts
};

bool HasSeparator(const std::string& text) { return text.find_first_of(",;|\t") != std::string::npos; }

/// What a line should have that another separator seems to be in.
std::string SeparatorHint(const DataSpec& spec) {
  return " with " + Quote(std::string(1, spec.dialect.separator)) +
         " between them, or data.separator for another separator";
}

/// Turns the fields of a record into features and a class or target.
class RecordEncoder {
 public:
  /// `names` of the file's columns in order.
  RecordEncoder(const DataSpec& spec, const TableReader& reader, std::vector<std::string> names,
                LabelUse labels)
      : spec_(spec),
        reader_(reader),
        names_(std::move(names)),
        labels_(labels),
        classes_(spec.label.values, spec.label.aliases, spec.label.numeric) {
    std::unordered_map<std::string, std::size_t> offsets;
    std::size_t offset = 0;
    for (const auto& column : spec.columns) {
      offsets[column.name] = column.kind == ColumnKind::kText ? texts_ : offset;
      if (column.name == spec.label.column) continue;
      if (column.kind == ColumnKind::kText) ++texts_;
      offset += static_cast<std::size_t>(WidthOf(column));
    }
    for (const auto& name : names_) plans_.push_back(PlanFor(name, offsets));
  }

  /// Appends one row to `x`, and one to the labels (unless they are ignored) and texts of `table`.
  void Encode(std::vector<float>& x, Table& table) const {
    const auto& fields = reader_.fields();
    if (fields.size() != names_.size()) {
      const bool other = fields.size() == 1 && HasSeparator(fields[0]);
      ThrowDataError(reader_.path(), reader_.Place(), FieldsText(fields, names_.size()),
                     std::to_string(names_.size()) + (other ? SeparatorHint(spec_) : ""));
    }
    x.resize(x.size() + static_cast<std::size_t>(spec_.features), 0.0F);
    float* row = x.data() + x.size() - spec_.features;
    std::vector<std::string> texts(texts_);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const FieldPlan& plan = plans_[k];
      if (reader_.IsNull(k) && Takes(plan)) {
        CheckMayMiss(plan);
        if (plan.column->kind != ColumnKind::kText) plan.encoder->EncodeMissing(row + plan.offset);
      } else if (plan.column == nullptr) {
        if (labels_ == LabelUse::kRead) table.y.push_back(LabelOf(fields[k]));
      } else if (plan.column->kind == ColumnKind::kText) {
        if (!plan.encoder->IsMissing(fields[k])) texts[plan.offset] = fields[k];
      } else if (plan.column->kind == ColumnKind::kKey) {
        if (fields[k].empty()) Fail(plan.column->name, fields[k], "a key");
        table.keys.push_back(fields[k]);
      } else if (plan.column->kind == ColumnKind::kWeight) {
        if (labels_ == LabelUse::kRead) table.weights.push_back(WeightOf(*plan.column, fields[k]));
      } else if (plan.encoder) {
        if (const auto expected = plan.encoder->Encode(fields[k], row + plan.offset))
          Fail(plan.column->name, fields[k], *expected);
      }
    }
    if (texts_ > 0) table.texts.push_back(std::move(texts));
  }

 private:
  FieldPlan PlanFor(const std::string& name,
                    const std::unordered_map<std::string, std::size_t>& offsets) const {
    FieldPlan plan;
    if (name == spec_.label.column) return plan;
    plan.column = &*std::find_if(spec_.columns.begin(), spec_.columns.end(),
                                 [&](const Column& c) { return c.name == name; });
    plan.offset = offsets.at(name);
    if (plan.column->kind == ColumnKind::kText || WidthOf(*plan.column) > 0)
      plan.encoder.emplace(*plan.column, spec_);
    return plan;
  }

  /// Whether anything becomes of the plan's field.
  [[nodiscard]] bool Takes(const FieldPlan& plan) const {
    if (plan.column == nullptr) return labels_ == LabelUse::kRead;
    if (plan.column->kind == ColumnKind::kWeight) return labels_ == LabelUse::kRead;
    return plan.encoder || plan.column->kind == ColumnKind::kKey;
  }

  void CheckMayMiss(const FieldPlan& plan) const {
    if (plan.encoder && plan.encoder->MayMiss()) return;
    ThrowDataError(reader_.path(), reader_.Place(plan.column ? plan.column->name : spec_.label.column),
                   "NULL", plan.encoder ? "a value, as the job has no mark of a missing one" : "a value");
  }

  [[noreturn]] void Fail(const std::string& column, const std::string& found,
                         const std::string& expected) const {
    const bool first = !reader_.named() && reader_.row() == 1;
    ThrowDataError(reader_.path(), reader_.Place(column), Quote(found),
                   expected + (first ? ", in a file that has no header (data.header)" : ""));
  }

  int LabelOf(const std::string& field) const {
    if (spec_.target) return TargetOf(field, *spec_.target);
    const auto found = classes_.Find(field, spec_.decimal);
    if (!found) Fail(spec_.label.column, field, "one of the job's label values or aliases");
    return static_cast<int>(*found);
  }

  double WeightOf(const Column& column, const std::string& field) const {
    double value = 0;
    if (const auto expected = ReadNumber(field, spec_.decimal, value)) Fail(column.name, field, *expected);
    if (!(value >= 0 && value <= column.largest))
      Fail(column.name, field, "a weight from 0 to " + NumberText(column.largest));
    return value;
  }

  int TargetOf(const std::string& field, const TargetRange& range) const {
    double value = 0;
    if (const auto expected = ReadNumber(field, spec_.decimal, value))
      Fail(spec_.label.column, field, *expected);
    const auto steps = StepsOf(range, value);
    if (!steps) Fail(spec_.label.column, field, ExpectedTarget(range));
    return *steps;
  }

  const DataSpec& spec_;
  const TableReader& reader_;
  std::vector<std::string> names_;
  LabelUse labels_;
  ValueIndex classes_;
  std::vector<FieldPlan> plans_;
  std::size_t texts_ = 0;
};

bool Declares(const DataSpec& spec, const std::string& name) {
  return std::any_of(spec.columns.begin(), spec.columns.end(),
                     [&](const Column& c) { return c.name == name; });
}

/// The columns of a file without header.
std::vector<std::string> DeclaredNames(const DataSpec& spec) {
  std::vector<std::string> names;
  for (const auto& column : spec.columns) names.push_back(column.name);
  if (!Declares(spec, spec.label.column)) names.push_back(spec.label.column);
  return names;
}

/// The header's names, each declared and none missing or twice.
std::vector<std::string> HeaderNames(const DataSpec& spec, TableReader& reader, LabelUse labels) {
  if (!reader.Next()) ThrowDataError(reader.path(), "row 1", "an empty file", "a header");
  const std::string where = reader.Place();
  std::vector<std::string> names = reader.fields();
  if (names.size() == 1 && HasSeparator(names[0]) && !Declares(spec, names[0]))
    ThrowDataError(reader.path(), where, "one column " + Quote(names[0]), "columns" + SeparatorHint(spec));
  if (!Declares(spec, "")) RequireLastName(reader.path(), where, names);
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) {
      ThrowDataError(reader.path(), where, "column " + Quote(name) + " twice", "each column once");
    }
    if (name != spec.label.column && !Declares(spec, name)) {
      ThrowDataError(reader.path(), where, "undeclared column " + Quote(name),
                     "only columns of the job (declare it with kind = \"ignore\" to leave it out)");
    }
  }
  const auto* weights = WeightColumn(spec);
  for (const auto& name : DeclaredNames(spec)) {
    const bool ignored = name == spec.label.column || (weights != nullptr && name == weights->name);
    if (ignored && labels == LabelUse::kIgnored) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      ThrowDataError(reader.path(), where, "no column " + Quote(name),
                     "every column of the job in the header");
    }
  }
  return names;
}

void AppendLine(std::string& content, std::string_view line) {
  content += line;
  if (!content.ends_with('\n')) content += '\n';
}

}  // namespace

std::vector<std::string> CsvColumnNames(const DataSpec& spec, TableReader& reader, LabelUse labels) {
  return reader.named() ? HeaderNames(spec, reader, labels) : DeclaredNames(spec);
}

std::string CsvField(const std::string& text, char separator) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool bare = text.find_first_of(std::string("\"\r\n") + separator) == std::string::npos;
  if (text.empty() || (bare && !blank(text.front()) && !blank(text.back()))) return text;
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

Table ReadCsv(const DataFiles& files, const DataSpec& spec, LabelUse labels) {
  Require(spec.features == CountFeatures(spec), "ReadCsv: a validated spec");
  TableReader reader(files, spec.header, spec.dialect, spec.decimal);
  auto names = CsvColumnNames(spec, reader, labels);
  bool more = reader.Next();
  // Without a header only the number of fields tells whether the label is among them.
  if (!reader.named() && labels == LabelUse::kIgnored && more && reader.fields().size() + 1 == names.size()) {
    if (WeightColumn(spec) != nullptr)
      ThrowDataError(
          reader.path(), reader.Place(), std::to_string(reader.fields().size()) + " fields",
          std::to_string(names.size()) +
              ", with a weight and a label: without a header nothing says which of them is absent");
    std::erase(names, spec.label.column);
  }
  const RecordEncoder encoder(spec, reader, std::move(names), labels);
  std::vector<float> x;
  Table table;
  Eigen::Index rows = 0;
  for (; more; more = reader.Next(), ++rows) encoder.Encode(x, table);
  table.x = Eigen::Map<const Matrix>(x.data(), rows, spec.features);
  return table;
}

void SplitCsv(const DataFiles& files, bool header, const std::vector<int>& party_of_row,
              const std::array<std::filesystem::path, 3>& targets, const CsvDialect& dialect) {
  const auto paths = files.table();
  std::array<std::string, 3> contents;
  std::optional<bool> first_marked;
  std::size_t count = 0;
  for (const auto& path : paths) {
    CsvReader reader(path, dialect);
    const bool marked = reader.marked() && dialect.encoding;
    if (first_marked && *first_marked != marked)
      ThrowDataError(path, "", marked ? "a byte order mark" : "no byte order mark",
                     "the same as in " + paths[0].string());
    if (!first_marked && marked) contents.fill(std::string(kByteOrderMark));
    const bool named = header && reader.Next();
    for (auto& content : contents) {
      if (named && !first_marked) AppendLine(content, reader.text());
    }
    first_marked = marked;
    for (; reader.Next(); ++count) {
      const int party = count < party_of_row.size() ? party_of_row[count] : -1;
      if (party < 0) continue;
      AppendLine(contents.at(static_cast<std::size_t>(party)), reader.text());
    }
  }
  if (count != party_of_row.size())
    ThrowDataError(files.place(), "", std::to_string(count) + " records",
                   std::to_string(party_of_row.size()));
  for (std::size_t i = 0; i < targets.size(); ++i) WriteFile(targets[i], contents[i]);
}

}  // namespace trefoil::data

#include "data/formats/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "data/formats/csv_reader.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

/// What becomes of one column of the file. `column` is null for the label; `offset` counts features, or
/// texts.
struct FieldPlan {
  const Column* column = nullptr;
  std::size_t offset = 0;
  std::unordered_map<std::string, int> index;  // of category values or labels
};

/// Turns the fields of a record into features and a class.
class RecordEncoder {
 public:
  /// `names` of the file's columns in order.
  RecordEncoder(const DataSpec& spec, const CsvReader& reader, std::vector<std::string> names,
                LabelUse labels)
      : spec_(spec), reader_(reader), names_(std::move(names)), labels_(labels) {
    std::unordered_map<std::string, std::size_t> offsets;
    std::size_t offset = 0;
    for (const auto& column : spec.columns) {
      offsets[column.name] = offset;
      if (column.name == spec.label.column || column.kind == ColumnKind::kIgnore) continue;
      if (column.kind == ColumnKind::kText) {
        offsets[column.name] = texts_++;
      } else {
        offset += column.kind == ColumnKind::kNumber ? 1 : column.values.size();
      }
    }
    for (const auto& name : names_) plans_.push_back(PlanFor(name, offsets));
  }

  /// Appends one row to `x`, and one to the labels (unless they are ignored) and texts of `table`.
  void Encode(std::vector<float>& x, Table& table) const {
    const auto& fields = reader_.fields();
    if (fields.size() != names_.size()) {
      ThrowDataError(reader_.path(), "row " + std::to_string(reader_.row()),
                     std::to_string(fields.size()) + " fields", std::to_string(names_.size()));
    }
    x.resize(x.size() + static_cast<std::size_t>(spec_.features), 0.0F);
    float* row = x.data() + x.size() - spec_.features;
    std::vector<std::string> texts(texts_);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const FieldPlan& plan = plans_[k];
      if (plan.column == nullptr) {
        if (labels_ == LabelUse::kRead) table.y.push_back(LabelOf(plan, fields[k]));
      } else if (plan.column->kind == ColumnKind::kNumber) {
        row[plan.offset] = NumberOf(*plan.column, fields[k]);
      } else if (plan.column->kind == ColumnKind::kCategory) {
        SetCategory(plan, fields[k], row);
      } else if (plan.column->kind == ColumnKind::kText && fields[k] != spec_.missing) {
        texts[plan.offset] = fields[k];
      } else if (plan.column->kind == ColumnKind::kKey) {
        if (fields[k].empty()) Fail(plan.column->name, fields[k], "a key");
        table.keys.push_back(fields[k]);
      }
    }
    if (texts_ > 0) table.texts.push_back(std::move(texts));
  }

 private:
  FieldPlan PlanFor(const std::string& name,
                    const std::unordered_map<std::string, std::size_t>& offsets) const {
    FieldPlan plan;
    const auto fill = [&](const std::vector<std::string>& values) {
      for (std::size_t v = 0; v < values.size(); ++v) plan.index[values[v]] = static_cast<int>(v);
    };
    if (name == spec_.label.column) {
      fill(spec_.label.values);
      for (const auto& [alias, value] : spec_.label.aliases) plan.index[alias] = plan.index.at(value);
      return plan;
    }
    plan.column = &*std::find_if(spec_.columns.begin(), spec_.columns.end(),
                                 [&](const Column& c) { return c.name == name; });
    plan.offset = offsets.at(name);
    if (plan.column->kind == ColumnKind::kCategory) fill(plan.column->values);
    return plan;
  }

  [[noreturn]] void Fail(const std::string& column, const std::string& found,
                         const std::string& expected) const {
    ThrowDataError(reader_.path(), reader_.Place(column), Quote(found), expected);
  }

  int LabelOf(const FieldPlan& plan, const std::string& field) const {
    const auto found = plan.index.find(field);
    if (found == plan.index.end())
      Fail(spec_.label.column, field, "one of the job's label values or aliases");
    return found->second;
  }

  float NumberOf(const Column& column, const std::string& field) const {
    if (field == spec_.missing) return 0.0F;
    double value = 0;
    const bool plus = field.starts_with('+') && !field.starts_with("+-");
    const char* begin = field.data() + (plus ? 1 : 0);
    const char* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (stop != end || begin == end || error == std::errc::invalid_argument)
      Fail(column.name, field, "a number");
    if (error != std::errc() || !std::isfinite(value)) Fail(column.name, field, "a finite number");
    const double scaled = (value - column.mean) / column.scale;
    // Written so that NaN (from a difference that overflows) fails too.
    if (!(std::abs(scaled) <= kLargestValue))
      Fail(column.name, field, "at most 1e+09 in magnitude after scaling");
    return static_cast<float>(scaled);
  }

  void SetCategory(const FieldPlan& plan, const std::string& field, float* row) const {
    const auto found = plan.index.find(field);
    if (found != plan.index.end()) {
      row[plan.offset + static_cast<std::size_t>(found->second)] = 1.0F;
    } else if (field != spec_.missing) {
      Fail(plan.column->name, field,
           "one of the column's declared values or the missing mark " + Quote(spec_.missing));
    }
  }

  const DataSpec& spec_;
  const CsvReader& reader_;
  std::vector<std::string> names_;
  LabelUse labels_;
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
std::vector<std::string> HeaderNames(const DataSpec& spec, CsvReader& reader, LabelUse labels) {
  if (!reader.Next()) ThrowDataError(reader.path(), "row 1", "an empty file", "a header");
  const std::string where = "row " + std::to_string(reader.row());
  std::vector<std::string> names = reader.fields();
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) {
      ThrowDataError(reader.path(), where, "column " + Quote(name) + " twice", "each column once");
    }
    if (name != spec.label.column && !Declares(spec, name)) {
      ThrowDataError(reader.path(), where, "undeclared column " + Quote(name),
                     "only columns of the job (declare it with kind = \"ignore\" to leave it out)");
    }
  }
  for (const auto& name : DeclaredNames(spec)) {
    if (name == spec.label.column && labels == LabelUse::kIgnored) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      ThrowDataError(reader.path(), where, "no column " + Quote(name),
                     "every column of the job in the header");
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> CsvColumnNames(const DataSpec& spec, CsvReader& reader, LabelUse labels) {
  return spec.header ? HeaderNames(spec, reader, labels) : DeclaredNames(spec);
}

std::string CsvField(const std::string& text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool bare = text.find_first_of(",\"\r\n") == std::string::npos;
  if (text.empty() || (bare && !blank(text.front()) && !blank(text.back()))) return text;
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

Table ReadCsv(const std::filesystem::path& path, const DataSpec& spec, LabelUse labels) {
  Require(spec.features == CountFeatures(spec), "ReadCsv: a validated spec");
  CsvReader reader(path);
  auto names = CsvColumnNames(spec, reader, labels);
  bool more = reader.Next();
  // Without a header only the number of fields tells whether the label is among them.
  if (!spec.header && labels == LabelUse::kIgnored && more && reader.fields().size() + 1 == names.size())
    std::erase(names, spec.label.column);
  const RecordEncoder encoder(spec, reader, std::move(names), labels);
  std::vector<float> x;
  Table table;
  Eigen::Index rows = 0;
  for (; more; more = reader.Next(), ++rows) encoder.Encode(x, table);
  table.x = Eigen::Map<const Matrix>(x.data(), rows, spec.features);
  return table;
}

void SplitCsv(const std::filesystem::path& path, bool header, const std::vector<int>& party_of_row,
              const std::array<std::filesystem::path, 3>& targets) {
  CsvReader reader(path);
  std::array<std::string, 3> contents;
  if (header && reader.Next()) contents.fill(std::string(reader.text()));
  std::size_t count = 0;
  for (; reader.Next(); ++count) {
    const int party = count < party_of_row.size() ? party_of_row[count] : -1;
    if (party < 0) continue;
    auto& content = contents.at(static_cast<std::size_t>(party));
    content += reader.text();
    if (!content.ends_with('\n')) content += '\n';
  }
  if (count != party_of_row.size()) {
    ThrowDataError(path, "", std::to_string(count) + " records", std::to_string(party_of_row.size()));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) WriteFile(targets[i], contents[i]);
}

}  // namespace trefoil::data

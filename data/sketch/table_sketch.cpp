#include "data/sketch/table_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "data/columns/date_format.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::array kDateFormats{"%Y-%m-%d",           "%d.%m.%Y",          "%m/%d/%Y",
                                  "%d/%m/%Y",           "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                  "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M",    "%d.%m.%Y %H:%M"};
constexpr const char* kOrigin = "2000-01-01";

/// The fields of a column that are not missing.
using Fields = std::vector<std::string>;

std::string Pointed(std::string text, char decimal) {
  std::replace(text.begin(), text.end(), decimal, '.');
  return text;
}

/// The number of a text that is one, nothing where no double holds it.
std::optional<double> NumberOf(const std::string& text, char decimal) {
  double number = 0;
  if (!IsNumber(text, decimal) || ReadNumber(text, decimal, number)) return {};
  return number;
}

/// Of the texts of equal numbers the shortest, and of these the first.
bool Shorter(const std::string& one, const std::string& other) {
  return std::pair(one.size(), one) < std::pair(other.size(), other);
}

void SketchValues(ColumnSketch& sketch, const Fields& fields, char decimal) {
  std::map<std::string, ColumnSketch::Value> values;
  for (const auto& field : fields) {
    const auto text = sketch.numbers ? Pointed(field, decimal) : field;
    auto& value = values[sketch.numbers ? *CanonicalNumber(text, '.') : text];
    if (value.rows == 0 || Shorter(text, value.text)) value.text = text;
    ++value.rows;
    if (values.size() <= kMaxSketchedValues) continue;
    sketch.more_values = true;
    return;
  }
  for (auto& [key, value] : values) sketch.values.push_back(std::move(value));
  if (!sketch.numbers) return;
  for (auto& value : sketch.values) {
    // As the others are, where one is always written with decimals.
    const auto point = value.text.find('.');
    const bool zeros = point != std::string::npos && value.text.find_last_not_of('0') == point;
    if (sketch.whole && zeros) value.text.erase(point);
    if (value.text.find_first_of("0123456789") == std::string::npos) value.text = "0";  // it was ".0"
  }
  std::sort(sketch.values.begin(), sketch.values.end(), [](const auto& one, const auto& other) {
    return NumberOf(one.text, '.') < NumberOf(other.text, '.');
  });
}

void SketchNumbers(ColumnSketch& sketch, std::vector<double> numbers) {
  if (numbers.empty()) return;
  std::sort(numbers.begin(), numbers.end());
  const auto at = [&](double share) {
    return numbers[static_cast<std::size_t>(std::floor(share * static_cast<double>(numbers.size() - 1)))];
  };
  sketch.all_differ = std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
  sketch.least = numbers.front();
  sketch.most = numbers.back();
  sketch.middle = at(0.5);
  sketch.spread = std::max(at(0.95) - sketch.middle, sketch.middle - at(0.05));
  if (sketch.spread == 0) sketch.spread = std::max(sketch.most - sketch.middle, sketch.middle - sketch.least);
}

/// The days of all fields, if they are dates of this format.
std::optional<std::vector<double>> AsDays(const Fields& fields, const char* format) {
  const double origin = DaysOf(kOrigin, kDateFormats[0]).value_or(0);
  std::vector<double> all;
  for (const auto& field : fields) {
    const auto days = DaysOf(field, format);
    if (!days) return {};
    all.push_back(*days - origin);
  }
  return all;
}

void SketchKinds(ColumnSketch& sketch, const Fields& fields, char decimal) {
  if (fields.empty()) return;
  std::vector<double> numbers;
  for (const auto& field : fields) {
    const auto number = NumberOf(field, decimal);
    if (!number) break;
    numbers.push_back(*number);
  }
  if (numbers.size() == fields.size()) {
    sketch.numbers = true;
    sketch.whole =
        std::all_of(numbers.begin(), numbers.end(), [](double one) { return one == std::floor(one); });
    return SketchNumbers(sketch, std::move(numbers));
  }
  for (const char* format : kDateFormats) {
    auto days = AsDays(fields, format);
    if (!days) continue;
    sketch.date_format = format;
    return SketchNumbers(sketch, std::move(*days));
  }
}

/// The one text that stands among numbers of many values, if the fields are such: fewer values are
/// categories.
std::optional<std::string> OwnMark(const Fields& fields, char decimal) {
  constexpr std::size_t kFewestNumbers = 6;
  std::optional<std::string> mark;
  std::set<std::string> numbers;
  for (const auto& field : fields) {
    if (auto number = CanonicalNumber(field, decimal)) {
      if (numbers.size() < kFewestNumbers) numbers.insert(*std::move(number));
    } else if (mark.value_or(field) != field) {
      return {};
    } else {
      mark = field;
    }
  }
  return numbers.size() < kFewestNumbers ? std::nullopt : mark;
}

/// Takes the fields with the column's own mark away, if it has one; `usual` occur in it, too.
void TakeOwnMark(ColumnSketch& sketch, Fields& fields, const std::set<std::string>& usual, char decimal) {
  const auto mark = OwnMark(fields, decimal);
  if (!mark) return;
  sketch.marked_rows = std::erase(fields, *mark);
  sketch.missing = true;
  sketch.marks = {*mark};
  sketch.marks.insert(sketch.marks.end(), usual.begin(), usual.end());
}

bool IsProse(const Fields& fields) {
  constexpr std::size_t kFewestWords = 3;
  const auto of_words = std::count_if(fields.begin(), fields.end(), [](const std::string& field) {
    std::istringstream words(field);
    const std::istream_iterator<std::string> first(words);
    return static_cast<std::size_t>(std::distance(first, {})) >= kFewestWords;
  });
  return 2 * static_cast<std::size_t>(of_words) > fields.size();
}

ColumnSketch SketchColumn(const FileRecords& file, std::size_t column, std::set<std::string>& marks) {
  ColumnSketch sketch;
  sketch.name = file.form.header ? file.names[column] : std::string("c").append(std::to_string(column + 1));
  Fields fields;
  std::set<std::string> usual;
  for (const auto& record : file.records) {
    if (IsUsualMark(record[column])) {
      usual.insert(record[column]);
    } else {
      fields.push_back(record[column]);
    }
  }
  sketch.missing = !usual.empty();
  TakeOwnMark(sketch, fields, usual, file.form.decimal);
  if (sketch.marks.empty()) marks.insert(usual.begin(), usual.end());
  SketchKinds(sketch, fields, file.form.decimal);
  SketchValues(sketch, fields, file.form.decimal);
  sketch.prose = !sketch.numbers && !sketch.date_format && IsProse(fields);
  return sketch;
}

void CheckRecords(const std::filesystem::path& path, const FileRecords& file) {
  const std::size_t width = file.form.header ? file.names.size() : file.records.front().size();
  for (std::size_t k = 0; k < file.records.size(); ++k) {
    if (file.records[k].size() == width) continue;
    ThrowDataError(
        path, std::string("row ").append(std::to_string(file.rows.at(k))), FieldsText(file.records[k], width),
        std::to_string(width) + (file.form.header ? ", as the header has" : ", as the first line has"));
  }
  if (width == 1)
    ThrowDataError(path, "", "one column",
                   file.form.query ? "the label and others"
                                   : "several, with , ; | or a tab between fields, not blanks alone");
  if (!file.form.query) RequireLastName(path, "header", file.names);
  std::set<std::string> seen;
  for (const auto& name : file.names) {
    if (name.empty())
      ThrowDataError(path, "header", "a column without a name",
                     "a name for each (of pandas: to_csv(index=False)), or --header no");
    if (!seen.insert(name).second)
      ThrowDataError(path, "header", "column " + Quote(name) + " twice", "each column once");
  }
}

}  // namespace

TableSketch SketchTable(const DataFiles& files, std::optional<bool> header) {
  const auto file = ReadRecordsOf(files, header);
  CheckRecords(files.file, file);
  TableSketch table{.form = file.form, .rows = file.records.size(), .columns = {}};
  std::set<std::string> marks;
  for (std::size_t column = 0; column < file.records.front().size(); ++column)
    table.columns.push_back(SketchColumn(file, column, marks));
  for (const auto& mark : UsualMarks()) {
    if (marks.contains(mark)) table.form.missing.push_back(mark);
  }
  return table;
}

}  // namespace trefoil::data

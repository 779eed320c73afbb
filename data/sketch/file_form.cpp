#include "data/sketch/file_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "data/formats/file.h"
#include "data/tables/query_reader.h"

namespace trefoil::data {
namespace {

using Records = std::vector<std::vector<std::string>>;

constexpr std::size_t kRecordsForForm = 1000;

Records ReadSome(const std::filesystem::path& path, const CsvDialect& dialect, std::size_t most) {
  CsvReader reader(path, dialect);
  Records records;
  while (records.size() < most && reader.Next()) records.push_back(reader.fields());
  return records;
}

/// How many records have as many fields as most have, if these are several.
std::size_t RecordsOfOneWidth(const Records& records) {
  std::map<std::size_t, std::size_t> widths;
  for (const auto& fields : records) ++widths[fields.size()];
  std::size_t most = 0;
  for (const auto& [width, count] : widths) most = std::max(most, width > 1 ? count : 0);
  return most;
}

char SeparatorOf(const std::filesystem::path& path) {
  char best = ',';
  std::size_t most = 0;
  for (const char separator : {',', ';', '\t', '|'}) {
    std::size_t count = 0;
    try {
      count = RecordsOfOneWidth(ReadSome(path, {.separator = separator}, kRecordsForForm));
    } catch (const DataError&) {
      continue;  // quotes in the middle of a field, which another separator cuts off
    }
    if (count > most) best = separator;
    most = std::max(most, count);
  }
  return best;
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Records ReadAll(const std::filesystem::path& path, CsvDialect& dialect) {
  if (IsAscii(ReadFile(path))) return ReadSome(path, dialect, SIZE_MAX);
  for (const auto encoding : {Encoding::kUtf8, Encoding::kWindows1252}) {
    dialect.encoding = encoding;
    try {
      return ReadSome(path, dialect, SIZE_MAX);
    } catch (const DataError&) {
      continue;  // other bytes; if it is something else, the last attempt says so
    }
  }
  dialect.encoding = Encoding::kLatin1;
  return ReadSome(path, dialect, SIZE_MAX);
}

char DecimalOf(const Records& records) {
  bool comma = false;
  for (const auto& fields : records) {
    for (const auto& field : fields) {
      if (IsNumber(field, '.') && field.find('.') != std::string::npos) return '.';
      comma = comma || (field.find(',') != std::string::npos && IsNumber(field, ','));
    }
  }
  return comma ? ',' : '.';
}

/// Whether a first line of texts names the columns of a table of texts: none of them stands in its column again, though
/// some column has few values.
bool NamesTexts(const Records& records) {
  const auto& first = records.front();
  bool repeats = false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    std::set<std::string> values;
    for (const auto& fields : std::span(records).subspan(1)) {
      if (column < fields.size()) values.insert(fields[column]);
    }
    if (values.count(first[column]) != 0) return false;
    repeats = repeats || 2 * values.size() < records.size();
  }
  return repeats;
}

bool HasHeader(const Records& records, char decimal) {
  const auto& first = records.front();
  const auto number = [decimal](const std::string& field) { return IsNumber(field, decimal); };
  if (records.size() < 2 || std::any_of(first.begin(), first.end(), number)) return false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    bool some = false;
    const bool all = std::all_of(records.begin() + 1, records.end(), [&](const auto& fields) {
      if (column >= fields.size()) return false;
      some = some || number(fields[column]);
      return number(fields[column]) || IsUsualMark(fields[column]);
    });
    if (some && all && !IsUsualMark(first[column])) return true;
  }
  return NamesTexts(records);
}

FileRecords RecordsOfQuery(const DataFiles& files) {
  const auto reader = OpenQuery(files, '.');
  FileRecords table{.form = {.header = true, .query = true}, .records = {}, .names = {}};
  (void)reader->Next();
  table.names = reader->fields();
  while (reader->Next()) table.records.push_back(reader->fields());
  if (table.records.empty()) ThrowDataError(files.file, "query", "no records", "some");
  return table;
}

}  // namespace

bool IsNumber(const std::string& text, char decimal) { return CanonicalNumber(text, decimal).has_value(); }

const std::vector<std::string>& UsualMarks() {
  static const std::vector<std::string> marks{"", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"};
  return marks;
}

bool IsUsualMark(const std::string& text) {
  const auto& marks = UsualMarks();
  return std::find(marks.begin(), marks.end(), text) != marks.end();
}

FileRecords ReadRecordsOf(const DataFiles& files, std::optional<bool> header) {
  if (!files.query.empty()) return RecordsOfQuery(files);
  const auto& path = files.file;
  FileRecords file;
  file.form.dialect.separator = SeparatorOf(path);
  file.records = ReadAll(path, file.form.dialect);
  if (file.records.empty()) ThrowDataError(path, "", "an empty file", "records");
  if (file.form.dialect.separator != ',') file.form.decimal = DecimalOf(file.records);
  file.form.header = header ? *header : HasHeader(file.records, file.form.decimal);
  if (!file.form.header) return file;
  file.names = std::move(file.records.front());
  file.records.erase(file.records.begin());
  if (file.records.empty()) ThrowDataError(path, "", "a header alone", "records below it");
  return file;
}

}  // namespace trefoil::data

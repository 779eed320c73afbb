#include "data/sketch/file_form.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "data/formats/file.h"
#include "data/tables/query_reader.h"

namespace trefoil::data {
namespace {

using Records = std::vector<std::vector<std::string>>;

constexpr std::size_t kRecordsForForm = 1000;

/// The first records of a file, without a form.
FileRecords ReadSome(const std::filesystem::path& path, const CsvDialect& dialect, std::size_t most) {
  CsvReader reader(path, dialect);
  FileRecords file;
  while (file.records.size() < most && reader.Next()) {
    file.records.push_back(reader.fields());
    file.rows.push_back(reader.row());
  }
  return file;
}

/// How many records have as many fields as most have, if these are several.
std::size_t RecordsOfOneWidth(const std::vector<std::size_t>& widths) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto width : widths) ++counts[width];
  std::size_t most = 0;
  for (const auto& [width, count] : counts) most = std::max(most, width > 1 ? count : 0);
  return most;
}

std::vector<std::size_t> WidthsOf(const Records& records) {
  std::vector<std::size_t> widths;
  for (const auto& fields : records) widths.push_back(fields.size());
  return widths;
}

/// The same of lines, whatever is in quotes.
std::vector<std::size_t> WidthsOfLines(const std::string& content, char separator) {
  std::vector<std::size_t> widths;
  std::istringstream lines(content);
  for (std::string line; widths.size() < kRecordsForForm && std::getline(lines, line);)
    widths.push_back(1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), separator)));
  return widths;
}

char SeparatorOf(const std::filesystem::path& path) {
  char best = ',';
  std::size_t most = 0;
  bool all = false;  // whether it cuts each record into as many fields
  std::size_t most_failed = 0;
  std::exception_ptr failed;
  for (const char separator : {',', ';', '\t', '|'}) {
    std::size_t count = 0;
    std::size_t records = 0;
    try {
      const auto widths = WidthsOf(ReadSome(path, {.separator = separator}, kRecordsForForm).records);
      count = RecordsOfOneWidth(widths);
      records = widths.size();
    } catch (const DataError&) {
      // Quotes in the middle of a field, which another separator cuts off; or this is the one, and they are
      // wrong.
      const auto lines = RecordsOfOneWidth(WidthsOfLines(ReadFile(path), separator));
      if (lines > most_failed) failed = std::current_exception();
      most_failed = std::max(most_failed, lines);
    }
    if (count <= most) continue;
    best = separator;
    most = count;
    all = count == records;
  }
  if (!all && most_failed > most) std::rethrow_exception(failed);
  return best;
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

FileRecords ReadAll(const std::filesystem::path& path, CsvDialect& dialect) {
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

/// Of a table with commas between fields a number in quotes with three digits behind its comma may be one of
/// thousands.
char DecimalOf(const Records& records, char separator) {
  constexpr std::size_t kThousands = 3;
  bool comma = false;
  for (const auto& fields : records) {
    for (const auto& field : fields) {
      if (IsNumber(field, '.') && field.find('.') != std::string::npos) return '.';
      const auto at = field.find(',');
      if (at == std::string::npos || !IsNumber(field, ',')) continue;
      comma = comma || separator != ',' || field.size() - at - 1 != kThousands;
    }
  }
  return comma ? ',' : '.';
}

/// Whether a first line of texts names the columns of a table of texts: none of them stands in its column
/// again, though some column has few values.
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
  FileRecords table{.form = {.header = true, .query = true}, .records = {}, .rows = {}, .names = {}};
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
  CsvDialect dialect{.separator = SeparatorOf(path)};
  auto file = ReadAll(path, dialect);
  file.form.dialect = dialect;
  if (file.records.empty()) ThrowDataError(path, "", "an empty file", "records");
  file.form.decimal = DecimalOf(file.records, file.form.dialect.separator);
  file.form.header = header ? *header : HasHeader(file.records, file.form.decimal);
  if (!file.form.header) return file;
  file.names = std::move(file.records.front());
  file.records.erase(file.records.begin());
  file.rows.erase(file.rows.begin());
  if (file.records.empty()) ThrowDataError(path, "", "a header alone", "records below it");
  return file;
}

}  // namespace trefoil::data

#include "data/tables/sqlite_reader.h"

#include <sqlite3.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr int kBusyMilliseconds = 5000;  // for a program that is writing
constexpr const char* kOneSelect = "one SELECT, which only reads";

/// Allows what reads, and nothing else.
int Authorise(void* /*context*/, int action, const char* /*of*/, const char* name, const char* /*database*/,
              const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return sqlite3_stricmp(name, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

/// The fewest digits that give the same double, with a decimal; an exponent only where SQLite writes one.
std::string RealText(double value) {
  std::array<char, 400> digits{};  // of the longest without exponent
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e15);
  char* const last = digits.data() + digits.size();
  const auto end = plain ? std::to_chars(digits.data(), last, value, std::chars_format::fixed).ptr
                         : std::to_chars(digits.data(), last, value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

void SqliteReader::CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqliteReader::EndStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteReader::SqliteReader(const std::filesystem::path& path, const std::string& query, char decimal)
    : QueryReader(path, decimal) {
  Open();
  Prepare(query);
}

void SqliteReader::Open() {
  const auto status = std::filesystem::status(path());
  if (!std::filesystem::exists(status)) ThrowDataError(path(), "", "no such file", "an SQLite database");
  if (!std::filesystem::is_regular_file(status))
    ThrowDataError(path(), "", "something else", "an SQLite database");
  sqlite3* database = nullptr;
  // An absolute path begins with no "file:", which would be read as more than a name.
  const int result = sqlite3_open_v2(std::filesystem::absolute(path()).c_str(), &database,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) Fail("", "an SQLite database");
  int* const ignored = nullptr;
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, ignored);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, ignored);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, ignored);
  // Else a misspelt "column" would be taken for a text, and a condition on it for one that always holds.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, ignored);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  // What a query sorts is not to lie in files of the system.
  if (sqlite3_exec(database, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr) != SQLITE_OK)
    Fail("", "an SQLite database");
  sqlite3_set_authorizer(database, Authorise, nullptr);
}

void SqliteReader::Prepare(const std::string& query) {
  const char* rest = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (query.find('\0') != std::string::npos) ThrowDataError(path(), "query", "a byte 0", kOneSelect);
  const int result = sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &statement, &rest);
  statement_.reset(statement);
  if (result == SQLITE_AUTH) ThrowDataError(path(), "query", "more than reading", kOneSelect);
  if (result != SQLITE_OK) Fail("query", kOneSelect);
  const bool reads = statement != nullptr && sqlite3_stmt_readonly(statement) != 0 &&
                     sqlite3_stmt_isexplain(statement) == 0 && sqlite3_column_count(statement) > 0;
  if (!reads) ThrowDataError(path(), "query", "something else", kOneSelect);
  // What follows the semicolon is to be nothing but blanks and comments.
  sqlite3_stmt* second = nullptr;
  const int more = sqlite3_prepare_v2(database_.get(), rest, -1, &second, nullptr);
  const std::unique_ptr<sqlite3_stmt, EndStatement> end(second);
  if (more != SQLITE_OK || second != nullptr)
    ThrowDataError(path(), "query", "a second statement", kOneSelect);
}

void SqliteReader::Fail(const std::string& where, const std::string& expected) const {
  ThrowDataError(path(), where, database_ ? sqlite3_errmsg(database_.get()) : "no memory", expected);
}

std::vector<std::string> SqliteReader::Names() {
  std::vector<std::string> names;
  for (int k = 0; k < sqlite3_column_count(statement_.get()); ++k)
    names.emplace_back(sqlite3_column_name(statement_.get(), k));
  return names;
}

bool SqliteReader::Read() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_DONE) return false;
  if (result != SQLITE_ROW) Fail("row " + std::to_string(row()), "a record");
  for (std::size_t k = 0; k < columns(); ++k) ReadCell(k);
  return true;
}

void SqliteReader::ReadCell(std::size_t column) {
  auto* statement = statement_.get();
  const int at = static_cast<int>(column);
  const int type = sqlite3_column_type(statement, at);
  if (type == SQLITE_BLOB) RefuseBytes(column);
  if (type == SQLITE_NULL) return SetNull(column);
  if (type == SQLITE_FLOAT) return SetNumber(column, RealText(sqlite3_column_double(statement, at)));
  const auto* text = sqlite3_column_text(statement, at);  // before its length, which it may change
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement, at));
  if (text == nullptr) Fail("row " + std::to_string(row()), "a record");
  SetText(column, std::string(reinterpret_cast<const char*>(text), length));
}

}  // namespace trefoil::data

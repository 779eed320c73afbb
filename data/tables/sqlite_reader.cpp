#include "data/tables/sqlite_reader.h"

#include <sqlite3.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/blocking_call.h"
#include "base/sha256.h"
#include "data/formats/bounded_content.h"
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

/// The fewest digits that give the same double, with a decimal as a text of a number that is not whole has it.
std::string RealText(double value, char decimal) {
  std::array<char, 400> digits{};  // of the longest without exponent
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  if (const auto point = text.find('.'); point != std::string::npos) text[point] = decimal;
  return text;
}

}  // namespace

void SqliteReader::CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqliteReader::EndStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteReader::SqliteReader(const std::filesystem::path& path, const std::string& query, char decimal)
    : path_(path), decimal_(decimal) {
  Open();
  Prepare(query);
}

void SqliteReader::Open() {
  const auto status = std::filesystem::status(path_);
  if (!std::filesystem::exists(status)) ThrowDataError(path_, "", "no such file", "an SQLite database");
  if (!std::filesystem::is_regular_file(status))
    ThrowDataError(path_, "", "something else", "an SQLite database");
  sqlite3* database = nullptr;
  // An absolute path begins with no "file:", which would be read as more than a name.
  const int result = sqlite3_open_v2(std::filesystem::absolute(path_).c_str(), &database,
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
  if (query.find('\0') != std::string::npos) ThrowDataError(path_, "query", "a byte 0", kOneSelect);
  const int result = sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &statement, &rest);
  statement_.reset(statement);
  if (result == SQLITE_AUTH) ThrowDataError(path_, "query", "more than reading", kOneSelect);
  if (result != SQLITE_OK) Fail("query", kOneSelect);
  const bool reads = statement != nullptr && sqlite3_stmt_readonly(statement) != 0 &&
                     sqlite3_stmt_isexplain(statement) == 0 && sqlite3_column_count(statement) > 0;
  if (!reads) ThrowDataError(path_, "query", "something else", kOneSelect);
  // What follows the semicolon is to be nothing but blanks and comments.
  sqlite3_stmt* second = nullptr;
  const int more = sqlite3_prepare_v2(database_.get(), rest, -1, &second, nullptr);
  const std::unique_ptr<sqlite3_stmt, EndStatement> end(second);
  if (more != SQLITE_OK || second != nullptr)
    ThrowDataError(path_, "query", "a second statement", kOneSelect);
}

void SqliteReader::Fail(const std::string& where, const std::string& expected) const {
  ThrowDataError(path_, where, database_ ? sqlite3_errmsg(database_.get()) : "no memory", expected);
}

bool SqliteReader::Next() {
  const int columns = sqlite3_column_count(statement_.get());
  if (!named_) {
    named_ = true;
    for (int k = 0; k < columns; ++k) fields_.emplace_back(sqlite3_column_name(statement_.get(), k));
    nulls_.assign(fields_.size(), false);
    names_ = fields_;
    return true;
  }
  if (ended_) return false;  // another step would begin anew
  ++row_;
  const int result = sqlite3_step(statement_.get());
  ended_ = result == SQLITE_DONE;
  if (ended_) return false;
  if (result != SQLITE_ROW) Fail("row " + std::to_string(row_), "a record");
  for (int k = 0; k < columns; ++k) ReadCell(k);
  if (bytes_ > BoundedContent::kMaxUnannounced)
    ThrowDataError(
        path_, "row " + std::to_string(row_),
        "cells of more than " + std::to_string(BoundedContent::kMaxUnannounced) + " bytes up to here",
        "a query that gives at most as many");
  return true;
}

void SqliteReader::ReadCell(int column) {
  const auto at = static_cast<std::size_t>(column);
  auto* statement = statement_.get();
  const int type = sqlite3_column_type(statement, column);
  nulls_[at] = type == SQLITE_NULL;
  fields_[at].clear();
  if (type == SQLITE_BLOB)
    ThrowDataError(path_, "row " + std::to_string(row_) + ", column " + Quote(names_[at]), "a blob",
                   "a number or a text");
  if (type == SQLITE_FLOAT) {
    fields_[at] = RealText(sqlite3_column_double(statement, column), decimal_);
  } else if (type != SQLITE_NULL) {
    const auto* text = sqlite3_column_text(statement, column);  // before its length, which it may change
    const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    if (text == nullptr) Fail("row " + std::to_string(row_), "a record");
    fields_[at].assign(reinterpret_cast<const char*>(text), length);
  }
  bytes_ += fields_[at].size() + sizeof(std::string);
}

std::string QuerySha256(const std::filesystem::path& path, const std::string& query) {
  const BlockingCall call("reading", path);
  SqliteReader reader(path, query, '.');
  Sha256 hash;
  while (reader.Next()) {
    std::string record;
    for (std::size_t k = 0; k < reader.fields().size(); ++k) {
      const auto& field = reader.fields()[k];
      record += reader.IsNull(k) ? "-" : std::to_string(field.size()) + ":" + field;
    }
    hash.Update(record + '\n');
  }
  return hash.Hex();
}

}  // namespace trefoil::data

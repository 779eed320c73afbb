#include "deposit/store/database.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"

namespace trefoil::deposit {
namespace {

constexpr int kBusyMilliseconds = 60'000;  // for another acceptance, which writes one body

// SQLite holds POSIX locks on the file, all of which a process loses when it closes any descriptor of it:
// another process would then take its log for nobody's and delete it, and what is written to it after that
// would be lost. So a file that may be open here as a database is never opened otherwise.

/// An empty file that its owner alone can read, where there is none: SQLite gives its log the same mode.
void MakeFile(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0 && errno == EEXIST) return;
  if (descriptor < 0) throw CannotWrite(file);
  close(descriptor);
  SyncFolderOf(file);
}

/// Why it is no file that SQLite may open: a pipe would be waited for. Empty for a regular file.
std::string ObjectionTo(const std::filesystem::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return DescribeErrno(errno);
  return WhatElse(found.st_mode);
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Database::Query::End::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::filesystem::path& file, std::span<const char* const> versions, const char* what)
    : file_(file) {
  if (!std::filesystem::exists(file)) MakeFile(file);
  if (const auto objection = ObjectionTo(file); !objection.empty())
    throw ConfigError(fmt::format("{}: {}, expected {}", file.string(), objection, what));
  sqlite3* database = nullptr;
  const int result =
      sqlite3_open_v2(std::filesystem::absolute(file).c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) Fail(result);
  Prepare(versions, what);
}

void Database::Prepare(std::span<const char* const> versions, const char* what) {
  int* const ignored = nullptr;
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, ignored);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, ignored);
  sqlite3_busy_timeout(database_.get(), kBusyMilliseconds);
  const int found = sqlite3_exec(database_.get(), "PRAGMA schema_version", nullptr, nullptr, nullptr);
  if ((found & 0xFF) == SQLITE_NOTADB)
    throw ConfigError(fmt::format("{}: found another file, expected {}", file_.string(), what));
  UseWriteAheadLog();
  for (const auto* pragma : {"PRAGMA synchronous = FULL", "PRAGMA secure_delete = ON",
                             "PRAGMA foreign_keys = ON", "PRAGMA temp_store = MEMORY"})
    Execute(pragma);
  Transact([&] { Upgrade(versions); });
}

void Database::UseWriteAheadLog() {
  // A new file's journal is changed by one that reads it and then writes. SQLite refuses that at once where
  // another does the same, since two that read and wait for each other would wait for ever.
  const auto change = [&] {
    return sqlite3_exec(database_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  int code = change();
  while ((code & 0xFF) == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    code = change();
  }
  if (code != SQLITE_OK) Fail(code);
}

void Database::Upgrade(std::span<const char* const> versions) {
  const auto found = [&] {
    Query version(*this, "PRAGMA user_version");
    (void)version.Next();
    return static_cast<std::uint64_t>(version.Number(0));  // a negative one is a late one
  }();
  if (found > versions.size()) {
    throw ConfigError(fmt::format("{}: found version {}, expected at most {}: a later trefoil wrote it",
                                  file_.string(), found, versions.size()));
  }
  if (found == versions.size()) return;
  for (const auto* step : versions.subspan(found)) Execute(step);
  Execute(fmt::format("PRAGMA user_version = {}", versions.size()).c_str());
}

void Database::EmptyLog() {
  Query checkpoint(*this, "PRAGMA wal_checkpoint(TRUNCATE)");
  if (!checkpoint.Next() || checkpoint.Number(0) != 0)
    throw std::runtime_error(file_.string() +
                             ": another process reads it, so that what was deleted is still in its log; try "
                             "again when that has ended");
}

void Database::Fail(int code) const {
  if ((code & 0xFF) == SQLITE_FULL)
    throw std::system_error(ENOSPC, std::generic_category(), file_.string() + ": cannot be written");
  throw std::runtime_error(fmt::format("{}: {}", file_.string(), sqlite3_errstr(code)));
}

void Database::Execute(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(code);
}

void Database::Transact(const std::function<void()>& work) {
  Execute("BEGIN IMMEDIATE");
  try {
    work();
    Execute("COMMIT");
  } catch (...) {
    // Some errors have ended it already, which is no error more.
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

Database::Query::Query(Database& database, const char* sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.database_.get(), sql, -1, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.Fail(code);
}

Database::Query& Database::Query::Bind(std::span<const std::uint8_t> bytes) {
  sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Database::Query& Database::Query::Bind(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Database::Query& Database::Query::Bind(std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), ++bound_, number);
  return *this;
}

bool Database::Query::Next() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.Fail(code);
  return code == SQLITE_ROW;
}

void Database::Query::Run() {
  while (Next()) continue;
}

std::string Database::Query::Bytes(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto count = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? std::string() : std::string(bytes, count);
}

std::int64_t Database::Query::Number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

}  // namespace trefoil::deposit

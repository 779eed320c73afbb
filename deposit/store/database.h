#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace trefoil::deposit {

/// A party's own SQLite file: write-ahead log, every transaction on disk when it ends, nothing of what was
/// deleted left in it once its log is emptied (secure_delete). Not thread-safe; other processes may use the
/// file at the same time, and wait for each other.
class Database {
 public:
  /// Opens a file, which is made (mode 0600) where it is not there. `versions`: what makes of a file of
  /// version k one of version k + 1, from 0, an empty one; all that is missing is done in one transaction.
  /// `what` says what was expected. Throws ConfigError where it is something else, or of a later version;
  /// std::runtime_error where the system fails.
  Database(const std::filesystem::path& file, std::span<const char* const> versions, const char* what);

  /// All that `work` does, or nothing of it; no other process writes meanwhile. What `work` throws ends it.
  /// Throws std::system_error where the disk is full, std::runtime_error where it cannot be written.
  void Transact(const std::function<void()>& work);

  /// Takes from disk what was deleted and is still in the write-ahead log. Throws std::runtime_error where
  /// another process reads for so long that it cannot be done. Pre: no statement is under way.
  void EmptyLog();

  /// One statement with its values, which are bound in their order.
  class Query {
   public:
    Query(Database& database, const char* sql);
    Query& Bind(std::span<const std::uint8_t> bytes);
    Query& Bind(std::string_view text);
    Query& Bind(std::int64_t number);
    /// Whether there is a row more, which then is the one that Bytes() and Number() are of. Throws as
    /// Transact().
    [[nodiscard]] bool Next();
    /// For a statement that gives no rows.
    void Run();
    [[nodiscard]] std::string Bytes(int column) const;
    [[nodiscard]] std::int64_t Number(int column) const;

   private:
    struct End {
      void operator()(sqlite3_stmt* statement) const;
    };

    Database& database_;
    std::unique_ptr<sqlite3_stmt, End> statement_;
    int bound_ = 0;
  };

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  [[noreturn]] void Fail(int code) const;
  void Execute(const char* sql);
  void Prepare(std::span<const char* const> versions, const char* what);
  void UseWriteAheadLog();
  void Upgrade(std::span<const char* const> versions);

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace trefoil::deposit

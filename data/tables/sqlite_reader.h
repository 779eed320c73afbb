#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace trefoil::data {

/// Reads the records that a query gives of an SQLite database. The database is opened for reading alone; the query is
/// one SELECT, which can neither write nor attach or load anything. All records are of one state of the database.
class SqliteReader {
 public:
  /// Cells are the texts that a CSV file has: whole numbers in decimal, others with the fewest digits that give the
  /// same double and with `decimal` before the decimals, texts as they are. Throws DataError, naming the database and
  /// not the query, where it cannot be read or is something else, and where the query is not one such SELECT.
  SqliteReader(const std::filesystem::path& path, const std::string& query, char decimal);

  /// Moves to the next record; the first is the columns' names. False at the end. Throws DataError naming the record
  /// for a cell of bytes, for what SQLite refuses, and for more cells than fill 1 GiB (as of packed text).
  bool Next();

  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// Whether a cell is NULL; its field is then empty.
  [[nodiscard]] bool IsNull(std::size_t column) const { return nulls_[column]; }
  /// The record's number from 1; 0 of the names.
  [[nodiscard]] std::size_t row() const { return row_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  struct EndStatement {
    void operator()(sqlite3_stmt* statement) const;
  };

  void Open();
  void Prepare(const std::string& query);
  void ReadCell(int column);
  [[noreturn]] void Fail(const std::string& where, const std::string& expected) const;

  std::filesystem::path path_;
  char decimal_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unique_ptr<sqlite3_stmt, EndStatement> statement_;
  std::vector<std::string> names_;
  std::vector<std::string> fields_;
  std::vector<bool> nulls_;
  std::uint64_t bytes_ = 0;
  std::size_t row_ = 0;
  bool named_ = false;
  bool ended_ = false;
};

/// SHA-256, in hexadecimal, of what a query gives: of each record, the names first, the fields, a field as its length in
/// decimal, a colon and its bytes, NULL as a minus sign; with a line feed behind each record. Throws as SqliteReader.
[[nodiscard]] std::string QuerySha256(const std::filesystem::path& path, const std::string& query);

}  // namespace trefoil::data

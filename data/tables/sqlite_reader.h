#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/tables/query_reader.h"

struct sqlite3;
struct sqlite3_stmt;

namespace trefoil::data {

/// Reads the records that a query gives of an SQLite database. The database is opened for reading alone; the
/// query is one SELECT, which can neither write nor attach or load anything.
class SqliteReader final : public QueryReader {
 public:
  /// Cells are the texts that a CSV file has: whole numbers in decimal, others with the fewest digits that
  /// give the same double and with `decimal` before the decimals, texts as they are. Throws DataError, naming
  /// the database and not the query, where it cannot be read or is something else, and where the query is not
  /// one such SELECT.
  SqliteReader(const std::filesystem::path& path, const std::string& query, char decimal);

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  struct EndStatement {
    void operator()(sqlite3_stmt* statement) const;
  };

  std::vector<std::string> Names() override;
  bool Read() override;
  void Open();
  void Prepare(const std::string& query);
  void ReadCell(std::size_t column);
  [[noreturn]] void Fail(const std::string& where, const std::string& expected) const;

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unique_ptr<sqlite3_stmt, EndStatement> statement_;
};

}  // namespace trefoil::data

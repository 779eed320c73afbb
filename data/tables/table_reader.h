#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/formats/csv_reader.h"
#include "data/tables/query_reader.h"

namespace trefoil::data {

/// Throws DataError naming `file`, its line `row` and, where there is one, the column, unless the names of
/// its columns are those of the table's file `first`.
void RequireSameHeader(const std::filesystem::path& file, std::size_t row,
                       const std::vector<std::string>& names, const std::filesystem::path& first,
                       const std::vector<std::string>& first_names);

/// Reads the records of a table that lies in one CSV file, in several, one after the other, or is what a
/// query gives of a database. Memory: that of the file that is being read; of a query that of a record.
class TableReader {
 public:
  /// With `header` every file begins with the same one; a query always gives names. A query's numbers have
  /// `decimal` before their decimals. `on_disk`: as of ReadFile, of the one file that there is then; of a
  /// query it takes nothing.
  /// Pre: `files` names a table, of one file where `on_disk` is to take it. Throws as CsvReader and
  /// OpenQuery.
  TableReader(const DataFiles& files, bool header, const CsvDialect& dialect = {}, char decimal = '.',
              Sha256* on_disk = nullptr);

  /// Moves to the next record, which the first file's header is, too; those of further files are passed over.
  /// False at the end. Throws as the readers; DataError naming file, line and column where a file's header is
  /// not the first file's.
  bool Next();

  /// Whether the first record is names.
  [[nodiscard]] bool named() const { return header_; }
  /// Of the record that Next() moved to: its fields, its file, its line there (of a query its number, 0 of
  /// the names), and where an error in it is.
  [[nodiscard]] const std::vector<std::string>& fields() const {
    return query_ ? query_->fields() : reader_->fields();
  }
  [[nodiscard]] const std::filesystem::path& path() const {
    return query_ ? query_->path() : reader_->path();
  }
  [[nodiscard]] std::size_t row() const { return query_ ? query_->row() : reader_->row(); }
  [[nodiscard]] std::string Place() const;
  [[nodiscard]] std::string Place(const std::string& column) const;
  /// Whether a field is NULL, which no file has; it is then empty.
  [[nodiscard]] bool IsNull(std::size_t column) const { return query_ && query_->IsNull(column); }

 private:
  void CheckHeader();

  std::vector<std::filesystem::path> files_;
  bool header_;
  CsvDialect dialect_;
  Sha256* on_disk_;
  std::size_t current_ = 0;
  std::optional<CsvReader> reader_;
  std::unique_ptr<QueryReader> query_;
  std::optional<std::vector<std::string>> names_;  ///< the first file's header, once it is read
};

}  // namespace trefoil::data

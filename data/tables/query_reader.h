#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset/data_files.h"

namespace trefoil::data {

/// Reads the records that a query gives of a database, all of one state of it.
class QueryReader {
 public:
  virtual ~QueryReader() = default;
  QueryReader(const QueryReader&) = delete;
  QueryReader& operator=(const QueryReader&) = delete;

  /// Moves to the next record; the first is the columns' names. False at the end. Throws DataError naming the
  /// record for a cell of bytes, for what the database refuses, and for more cells than fill 1 GiB (as of
  /// packed text).
  bool Next();

  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// Whether a cell is NULL; its field is then empty.
  [[nodiscard]] bool IsNull(std::size_t column) const { return nulls_[column]; }
  /// The record's number from 1; 0 of the names.
  [[nodiscard]] std::size_t row() const { return row_; }
  /// The database, as errors name it.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 protected:
  QueryReader(std::filesystem::path path, char decimal) : path_(std::move(path)), decimal_(decimal) {}

  /// The columns' names. Called once, first.
  virtual std::vector<std::string> Names() = 0;
  /// Sets the cells of the next record; false where there is none. Not called again after that.
  virtual bool Read() = 0;

  [[nodiscard]] std::size_t columns() const { return fields_.size(); }
  /// A cell that is NULL, bytes, a text or a whole number, or another number, whose point becomes the decimal
  /// sign.
  void SetNull(std::size_t column);
  [[noreturn]] void RefuseBytes(std::size_t column) const;
  void SetText(std::size_t column, std::string text);
  void SetNumber(std::size_t column, std::string text);

 private:
  std::filesystem::path path_;
  char decimal_;
  std::vector<std::string> names_;
  std::vector<std::string> fields_;
  std::vector<bool> nulls_;
  std::uint64_t bytes_ = 0;
  std::size_t row_ = 0;
  bool named_ = false;
  bool ended_ = false;
};

/// Whether a text that names a PostgreSQL database could hold a password: it is a URI, or speaks of one. Such
/// a text belongs in no job or party file, and no error quotes it.
[[nodiscard]] bool MayHoldPassword(const std::string& database);

/// Begins to read what the query of `files` gives, with `decimal` before the decimals of numbers. Pre: there
/// is one. Throws as SqliteReader and OpenPostgres.
[[nodiscard]] std::unique_ptr<QueryReader> OpenQuery(const DataFiles& files, char decimal);

/// SHA-256, in hexadecimal, of what a query gives: of each record, the names first, the fields, a field as
/// its length in decimal, a colon and its bytes, NULL as a minus sign; with a line feed behind each record.
/// Throws as OpenQuery.
[[nodiscard]] std::string QuerySha256(const DataFiles& files);

}  // namespace trefoil::data

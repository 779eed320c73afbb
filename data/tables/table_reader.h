#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "data/formats/csv_reader.h"

namespace trefoil::data {

/// Reads the records of a table that lies in one CSV file or in several, one after the other. Memory: that of the
/// file that is being read.
class TableReader {
 public:
  /// With `header` every file begins with the same one. Pre: `files` names a table. Throws as CsvReader.
  TableReader(const DataFiles& files, bool header, const CsvDialect& dialect = {});

  /// Moves to the next record, which the first file's header is, too; those of further files are passed over. False
  /// at the end. Throws as CsvReader; DataError naming file, line and column where a file's header is not the first
  /// file's.
  bool Next();

  /// Of the record that Next() moved to: its fields, its file, its line there, and where an error in it is.
  [[nodiscard]] const std::vector<std::string>& fields() const { return reader_->fields(); }
  [[nodiscard]] const std::filesystem::path& path() const { return reader_->path(); }
  [[nodiscard]] std::size_t row() const { return reader_->row(); }
  [[nodiscard]] std::string Place(const std::string& column) const { return reader_->Place(column); }

 private:
  void CheckHeader();

  std::vector<std::filesystem::path> files_;
  bool header_;
  CsvDialect dialect_;
  std::size_t current_ = 0;
  std::optional<CsvReader> reader_;
  std::optional<std::vector<std::string>> names_;  ///< the first file's header, once it is read
};

}  // namespace trefoil::data

#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::data {

/// Reads a CSV file record by record: commas, fields in double quotes with "" for a quote (they may hold
/// commas and line ends), LF or CRLF. A byte order mark at the start and empty lines at the end are skipped;
/// blanks around a field are trimmed unless they are inside the quotes. Gzip is unpacked. Source: RFC 4180.
class CsvReader {
 public:
  /// Throws DataError if the file cannot be read.
  explicit CsvReader(const std::filesystem::path& path);

  /// Moves to the next record; false at the end. Throws DataError naming the row for an empty line between
  /// records, a quoted field without an end, or text after a closing quote.
  bool Next();

  /// Of the record that Next() moved to: its fields, its bytes as they are in the file (with line end, if it
  /// has one), and the number of its first line, from 1.
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] std::size_t row() const { return row_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// "row R, column "NAME"": where an error is.
  [[nodiscard]] std::string Place(const std::string& column) const;

 private:
  [[nodiscard]] char Peek() const { return position_ < content_.size() ? content_[position_] : '\0'; }
  [[nodiscard]] bool AtLineEnd() const;
  void TakeLineEnd();
  void SkipBlanks();
  std::string TakeField();
  std::string TakeQuoted();

  std::filesystem::path path_;
  std::string content_;
  std::vector<std::string> fields_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;  // of the record
  std::size_t row_ = 0;
  std::size_t line_ = 1;  // at position_
};

}  // namespace trefoil::data

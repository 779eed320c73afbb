#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secrets/sha256.h"

namespace trefoil::data {

/// What the bytes of a file stand for.
enum class Encoding { kUtf8, kLatin1, kWindows1252 };

/// What a file of fields with separators leaves open.
struct CsvDialect {
  char separator = ',';                ///< or ';', '\t', '|'
  std::optional<Encoding> encoding{};  ///< empty: bytes are taken as they are

  friend bool operator==(const CsvDialect&, const CsvDialect&) = default;
};

/// At the start of a file: what follows is UTF-8, whatever its dialect says.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Throws DataError at `where` if the last of several names is empty, as a separator at the end of a header's
/// line makes it.
void RequireLastName(const std::filesystem::path& path, std::string_view where,
                     const std::vector<std::string>& names);

/// "5 fields" for an error line of a record that is not of so many, with the last of them where they are more.
[[nodiscard]] std::string FieldsText(const std::vector<std::string>& fields, std::size_t expected);

/// Reads a CSV file record by record: separators, fields in double quotes with "" for a quote (they may hold
/// separators and line ends), LF or CRLF. A byte order mark at the start and empty lines at the end are
/// skipped; blanks around a field are trimmed unless they are inside the quotes. Gzip is unpacked. Source:
/// RFC 4180.
class CsvReader {
 public:
  /// `on_disk`: as of ReadFile. Throws DataError if the file cannot be read, or is UTF-16, a database, an
  /// archive or the like by its first bytes.
  explicit CsvReader(const std::filesystem::path& path, const CsvDialect& dialect = {},
                     Sha256* on_disk = nullptr);

  /// Moves to the next record; false at the end. Throws DataError naming the row for an empty line between
  /// records, a quoted field without an end, text after a closing quote, or bytes that the encoding does not
  /// have.
  bool Next();

  /// Of the record that Next() moved to: its fields, as UTF-8 where the dialect says an encoding; its bytes
  /// as they are in the file (with line end, if it has one), and the number of its first line, from 1.
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] std::size_t row() const { return row_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether the file begins with a byte order mark.
  [[nodiscard]] bool marked() const { return marked_; }

  /// "row R, column "NAME"": where an error is.
  [[nodiscard]] std::string Place(const std::string& column) const;

 private:
  [[nodiscard]] char Peek() const { return position_ < content_.size() ? content_[position_] : '\0'; }
  [[nodiscard]] bool AtLineEnd() const;
  void TakeLineEnd();
  void SkipBlanks();
  std::string TakeField();
  std::string TakeQuoted();
  [[nodiscard]] std::string Decoded(std::string bytes) const;

  std::filesystem::path path_;
  CsvDialect dialect_;
  std::string_view blanks_;
  std::string content_;
  bool marked_ = false;
  std::vector<std::string> fields_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;  // of the record
  std::size_t row_ = 0;
  std::size_t line_ = 1;  // at position_
};

}  // namespace trefoil::data

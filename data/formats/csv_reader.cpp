#include "data/formats/csv_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "data/formats/file.h"

namespace trefoil::data {
namespace {

/// Files that somebody may take for a table of texts, by their first bytes, and what to do with them.
struct OtherFormat {
  std::string_view magic;
  const char* name;
  const char* mend;
};
constexpr const char* kSavedAsUtf8 = "a file saved as UTF-8";
constexpr const char* kInPython = "a CSV file, or this one read by the Python package (docs/howto/tables.md)";
constexpr const char* kUnpacked = "a CSV file, as it is or packed by gzip";
constexpr std::array<OtherFormat, 11> kOtherFormats{{
    {"\xFF\xFE", "the mark of UTF-16", kSavedAsUtf8},
    {"\xFE\xFF", "the mark of UTF-16", kSavedAsUtf8},
    {std::string_view("SQLite format 3\0", 16), "an SQLite database",
     "a CSV file, or sqlite and query in its place (docs/howto/tables.md)"},
    {"PAR1", "a Parquet file", kInPython},
    {"ARROW1", "an Arrow file", kInPython},
    {"FEA1", "a Feather file", kInPython},
    {"ORC", "an ORC file", kInPython},
    {"PK\x03\x04", "a ZIP archive (as Excel's files are)", "a CSV file; Excel saves as \"CSV UTF-8\""},
    {"\xD0\xCF\x11\xE0", "an old Office document", "a CSV file; Excel saves as \"CSV UTF-8\""},
    {"\xFD"
     "7zXZ",
     "a file packed by xz", kUnpacked},
    {"\x28\xB5\x2F\xFD", "a file packed by zstd", kUnpacked},
}};

/// Windows-1252 of the bytes 0x80 to 0x9F; 0: none. Source: Unicode,
/// Mappings/VENDORS/MICSFT/WINDOWS/CP1252.TXT.
constexpr std::array<std::uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

const char* NameOf(Encoding encoding) {
  return encoding == Encoding::kUtf8 ? "utf-8"
         : encoding == Encoding::kLatin1
             ? "latin-1, which has no bytes 0x80 to 0x9F (windows-1252 may be meant)"
             : "windows-1252";
}

unsigned ByteAt(std::string_view text, std::size_t k) {
  return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
}

std::string Hex(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return std::string("0x") + kDigits[byte / 16] + kDigits[byte % 16];
}

/// Bytes of the UTF-8 character at `k`; 0: there is none. Overlong forms and surrogates are none (RFC 3629).
std::size_t Utf8Length(std::string_view text, std::size_t k) {
  const auto lead = ByteAt(text, k);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((ByteAt(text, k + i) & 0xC0U) != 0x80) return 0;
  }
  const auto second = ByteAt(text, k + 1);
  const bool none = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
                    (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return none ? 0 : length;
}

/// Appends a character of the basic plane.
void AppendUtf8(std::string& text, unsigned code) {
  const auto append = [&](unsigned byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code >= 0x800) {
    append(0xE0U | (code >> 12U));
    append(0x80U | ((code >> 6U) & 0x3FU));
  } else {
    append(0xC0U | (code >> 6U));
  }
  append(0x80U | (code & 0x3FU));
}

/// Where in `bytes` the first one is that the encoding does not have; the end: nowhere.
std::size_t FindForeign(Encoding encoding, std::string_view bytes) {
  std::size_t k = 0;
  while (k < bytes.size()) {
    const auto byte = ByteAt(bytes, k);
    const bool high = byte >= 0x80 && byte < 0xA0;
    std::size_t length = 1;
    if (encoding == Encoding::kUtf8) length = Utf8Length(bytes, k);
    if (high && encoding == Encoding::kLatin1) length = 0;
    if (high && encoding == Encoding::kWindows1252 && kWindows1252.at(byte - 0x80) == 0) length = 0;
    if (length == 0) return k;
    k += length;
  }
  return k;
}

/// Throws DataError for a file that is no table of texts by its first bytes. `head`: some hundred of them.
void RequireText(const std::filesystem::path& path, std::string_view head) {
  const auto zero = head.find('\0');
  for (const auto& other : kOtherFormats) {
    // A header may begin with the letters of a magic number, but has no byte 0.
    const bool letters = other.magic.find_first_not_of("ACEFOPRW1") == std::string_view::npos;
    if (head.starts_with(other.magic) && (!letters || zero != std::string_view::npos))
      ThrowDataError(path, "row 1", other.name, other.mend);
  }
  // ASCII in UTF-16 without a mark: every other byte is zero.
  const bool wide = zero < 2 && head.size() >= 4 && head[zero + 2] == '\0' && head[1 - zero] != '\0';
  if (wide) ThrowDataError(path, "row 1", "zeros between the letters, as UTF-16 has them", kSavedAsUtf8);
}

/// Throws DataError where lines end by carriage returns alone, which would make one record of all. Pre:
/// content.
void RequireNewlines(const std::filesystem::path& path, std::string_view content) {
  const auto end = content.find('\r');
  if (end >= content.size() - 1 || content.find('\n') != std::string_view::npos) return;
  const bool quoted =
      std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(end), '"') % 2 != 0;
  if (!quoted) ThrowDataError(path, "row 1", "carriage returns as line ends", "newlines");
}

}  // namespace

void RequireLastName(const std::filesystem::path& path, std::string_view where,
                     const std::vector<std::string>& names) {
  if (names.size() > 1 && names.back().empty())
    ThrowDataError(path, where, "a separator at the end of the lines", "none, or a name for the last column");
}

std::string FieldsText(const std::vector<std::string>& fields, std::size_t expected) {
  const auto count = std::to_string(fields.size()) + " fields";
  return fields.size() > expected ? count + ", the last " + Quote(fields.back()) : count;
}

CsvReader::CsvReader(const std::filesystem::path& path, const CsvDialect& dialect, Sha256* on_disk)
    : path_(path),
      dialect_(dialect),
      blanks_(dialect.separator == '\t' ? " " : " \t"),
      content_(ReadFile(path, {}, on_disk)),
      marked_(content_.starts_with(kByteOrderMark)) {
  RequireText(path, std::string_view(content_).substr(0, 512));
  if (!content_.empty()) RequireNewlines(path, content_);
  if (!marked_) return;
  content_.erase(0, kByteOrderMark.size());
  if (dialect_.encoding) dialect_.encoding = Encoding::kUtf8;
}

std::string_view CsvReader::text() const {
  return std::string_view(content_).substr(begin_, position_ - begin_);
}

std::string CsvReader::Place(const std::string& column) const {
  return "row " + std::to_string(row_) + ", column " + Quote(column);
}

bool CsvReader::AtLineEnd() const {
  const auto rest = std::string_view(content_).substr(position_);
  return rest.empty() || rest == "\r" || rest.starts_with('\n') || rest.starts_with("\r\n");
}

void CsvReader::TakeLineEnd() {
  if (Peek() == '\r') ++position_;
  if (Peek() == '\n') ++position_;
  ++line_;
}

void CsvReader::SkipBlanks() {
  while (position_ < content_.size() && blanks_.find(content_[position_]) != std::string_view::npos)
    ++position_;
}

bool CsvReader::Next() {
  if (content_.find_first_not_of(std::string(blanks_) + "\r\n", position_) == std::string::npos) return false;
  begin_ = position_;
  row_ = line_;
  fields_.clear();
  SkipBlanks();
  if (AtLineEnd()) ThrowDataError(path_, "row " + std::to_string(row_), "an empty line", "a record");
  fields_.push_back(TakeField());
  while (!AtLineEnd()) {
    ++position_;  // the separator
    fields_.push_back(TakeField());
  }
  TakeLineEnd();
  return true;
}

/// Stops at a separator or a line end.
std::string CsvReader::TakeField() {
  SkipBlanks();
  if (Peek() == '"') return Decoded(TakeQuoted());
  const auto begin = position_;
  while (!AtLineEnd() && Peek() != dialect_.separator) ++position_;
  const auto field = std::string_view(content_).substr(begin, position_ - begin);
  return Decoded(std::string(field.substr(0, field.find_last_not_of(blanks_) + 1)));
}

std::string CsvReader::TakeQuoted() {
  std::string field;
  for (++position_;; ++position_) {
    if (position_ >= content_.size()) {
      ThrowDataError(path_, "row " + std::to_string(row_), "a quoted field without an end",
                     "a closing quote");
    }
    if (Peek() == '"') {
      ++position_;
      if (Peek() != '"') break;
    }
    if (Peek() == '\n') ++line_;
    field += content_[position_];
  }
  SkipBlanks();
  if (!AtLineEnd() && Peek() != dialect_.separator) {
    ThrowDataError(path_, "row " + std::to_string(row_), "text after a closing quote",
                   dialect_.separator == ',' ? "a comma or the line's end" : "a separator or the line's end");
  }
  return field;
}

/// The field that ends at `line_` as UTF-8.
std::string CsvReader::Decoded(std::string bytes) const {
  if (!dialect_.encoding) return bytes;
  const auto foreign = FindForeign(*dialect_.encoding, bytes);
  if (foreign < bytes.size()) {
    const auto after = std::count(bytes.begin() + static_cast<std::ptrdiff_t>(foreign), bytes.end(), '\n');
    const auto line = line_ - static_cast<std::size_t>(after);
    ThrowDataError(path_, "row " + std::to_string(line) + ", field " + std::to_string(fields_.size() + 1),
                   "the byte " + Hex(ByteAt(bytes, foreign)), NameOf(*dialect_.encoding));
  }
  if (*dialect_.encoding == Encoding::kUtf8) return bytes;
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const auto byte = ByteAt(bytes, k);
    if (byte < 0x80) {
      text += bytes[k];
    } else {
      AppendUtf8(text, byte < 0xA0 ? kWindows1252.at(byte - 0x80) : byte);
    }
  }
  return text;
}

}  // namespace trefoil::data

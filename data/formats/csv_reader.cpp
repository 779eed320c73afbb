#include "data/formats/csv_reader.h"

#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view TrimRight(std::string_view text) {
  const auto last = text.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : path_(path), content_(ReadFile(path)) {
  if (content_.starts_with(kByteOrderMark)) content_.erase(0, kByteOrderMark.size());
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
  while (position_ < content_.size() && kBlanks.find(content_[position_]) != std::string_view::npos)
    ++position_;
}

bool CsvReader::Next() {
  if (content_.find_first_not_of(" \t\r\n", position_) == std::string::npos) return false;
  begin_ = position_;
  row_ = line_;
  fields_.clear();
  SkipBlanks();
  if (AtLineEnd()) ThrowDataError(path_, "row " + std::to_string(row_), "an empty line", "a record");
  fields_.push_back(TakeField());
  while (!AtLineEnd()) {
    ++position_;  // the comma
    fields_.push_back(TakeField());
  }
  TakeLineEnd();
  return true;
}

/// Stops at a comma or a line end.
std::string CsvReader::TakeField() {
  SkipBlanks();
  if (Peek() == '"') return TakeQuoted();
  const auto begin = position_;
  while (!AtLineEnd() && Peek() != ',') ++position_;
  return std::string(TrimRight(std::string_view(content_).substr(begin, position_ - begin)));
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
  if (!AtLineEnd() && Peek() != ',') {
    ThrowDataError(path_, "row " + std::to_string(row_), "text after a closing quote",
                   "a comma or the line's end");
  }
  return field;
}

}  // namespace trefoil::data

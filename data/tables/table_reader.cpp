#include "data/tables/table_reader.h"

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {

void RequireSameHeader(const std::filesystem::path& file, std::size_t row,
                       const std::vector<std::string>& names, const std::filesystem::path& first,
                       const std::vector<std::string>& first_names) {
  const auto where = "row " + std::to_string(row);
  for (std::size_t k = 0; k < names.size() && k < first_names.size(); ++k) {
    if (names[k] != first_names[k])
      ThrowDataError(file, where + ", column " + std::to_string(k + 1), Quote(names[k]),
                     Quote(first_names[k]) + ", as in " + first.string());
  }
  if (names.size() != first_names.size())
    ThrowDataError(file, where, std::to_string(names.size()) + " columns",
                   "the " + std::to_string(first_names.size()) + " of " + first.string());
}

TableReader::TableReader(const DataFiles& files, bool header, const CsvDialect& dialect, char decimal,
                         Sha256* on_disk)
    : files_(files.table()), header_(header || !files.query.empty()), dialect_(dialect), on_disk_(on_disk) {
  Require(!files_.empty(), "TableReader: a table");
  if (files.query.empty()) {
    reader_.emplace(files_[0], dialect_, on_disk_);
  } else {
    query_ = OpenQuery(files, decimal);
  }
}

std::string TableReader::Place() const {
  return query_ && row() == 0 ? "query" : "row " + std::to_string(row());
}

std::string TableReader::Place(const std::string& column) const {
  return Place() + ", column " + Quote(column);
}

bool TableReader::Next() {
  if (query_) return query_->Next();
  while (!reader_->Next()) {
    const bool no_header = header_ && !names_;  // the first file is empty: the table has no columns
    if (no_header || current_ + 1 == files_.size()) return false;
    ++current_;
    reader_.reset();  // one file's content at a time
    reader_.emplace(files_[current_], dialect_, on_disk_);
    if (header_) CheckHeader();
  }
  if (header_ && !names_) names_ = reader_->fields();
  return true;
}

void TableReader::CheckHeader() {
  if (!reader_->Next())
    ThrowDataError(path(), "row 1", "an empty file", "the header of " + files_[0].string());
  RequireSameHeader(path(), row(), fields(), files_[0], *names_);
}

}  // namespace trefoil::data

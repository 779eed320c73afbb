#include "data/tables/table_reader.h"

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {

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
  const auto first = files_[0].string();
  if (!reader_->Next()) ThrowDataError(path(), "row 1", "an empty file", "the header of " + first);
  const auto where = "row " + std::to_string(row());
  for (std::size_t k = 0; k < fields().size() && k < names_->size(); ++k) {
    if (fields()[k] != (*names_)[k])
      ThrowDataError(path(), where + ", column " + std::to_string(k + 1), Quote(fields()[k]),
                     Quote((*names_)[k]) + ", as in " + first);
  }
  if (fields().size() != names_->size())
    ThrowDataError(path(), where, std::to_string(fields().size()) + " columns",
                   "the " + std::to_string(names_->size()) + " of " + first);
}

}  // namespace trefoil::data

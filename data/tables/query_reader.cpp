#include "data/tables/query_reader.h"

#include <utility>

#include "base/secrets/sha256.h"
#include "base/threads/blocking_call.h"
#include "data/formats/bounded_content.h"
#include "data/formats/file.h"
#include "data/tables/postgres_reader.h"
#include "data/tables/sqlite_reader.h"

namespace trefoil::data {

bool QueryReader::Next() {
  if (!named_) {
    named_ = true;
    names_ = Names();
    fields_ = names_;
    nulls_.assign(fields_.size(), false);
    return true;
  }
  if (ended_) return false;  // another step might begin anew
  ++row_;
  ended_ = !Read();
  if (ended_) return false;
  for (const auto& field : fields_) bytes_ += field.size() + sizeof(std::string);
  if (bytes_ > BoundedContent::kMaxUnannounced)
    ThrowDataError(
        path_, "row " + std::to_string(row_),
        "cells of more than " + std::to_string(BoundedContent::kMaxUnannounced) + " bytes up to here",
        "a query that gives at most as many");
  return true;
}

void QueryReader::SetNull(std::size_t column) {
  nulls_[column] = true;
  fields_[column].clear();
}

void QueryReader::RefuseBytes(std::size_t column) const {
  ThrowDataError(path_, "row " + std::to_string(row_) + ", column " + Quote(names_[column]), "a blob",
                 "a number or a text");
}

void QueryReader::SetText(std::size_t column, std::string text) {
  nulls_[column] = false;
  fields_[column] = std::move(text);
}

void QueryReader::SetNumber(std::size_t column, std::string text) {
  if (const auto point = text.find('.'); point != std::string::npos) text[point] = decimal_;
  SetText(column, std::move(text));
}

bool MayHoldPassword(const std::string& database) {
  std::string lower;
  for (const char c : database) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.find("password") != std::string::npos || lower.find("://") != std::string::npos;
}

std::unique_ptr<QueryReader> OpenQuery(const DataFiles& files, char decimal) {
  if (files.postgres) return OpenPostgres(files.file.string(), files.query, decimal);
  return std::make_unique<SqliteReader>(files.file, files.query, decimal);
}

std::string QuerySha256(const DataFiles& files) {
  const BlockingCall call("reading", files.file);
  const auto reader = OpenQuery(files, '.');
  Sha256 hash;
  while (reader->Next()) {
    std::string record;
    for (std::size_t k = 0; k < reader->fields().size(); ++k) {
      const auto& field = reader->fields()[k];
      record += reader->IsNull(k) ? "-" : std::to_string(field.size()) + ":" + field;
    }
    hash.Update(record + '\n');
  }
  return hash.Hex();
}

}  // namespace trefoil::data

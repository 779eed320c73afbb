#include "jobs/histogram/shared_counts.h"

#include <filesystem>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"
#include "jobs/ranks/same_files.h"
#include "mpc/ring.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using mpc::Word;

ValueCounts CountsOf(const std::vector<std::optional<std::size_t>>& records, std::size_t values) {
  ValueCounts counts{.records = static_cast<std::int64_t>(records.size()),
                     .of_values = std::vector<std::int64_t>(values)};
  for (const auto& value : records) {
    if (value) ++counts.of_values.at(*value);
  }
  return counts;
}

/// Of all ranks together, at each.
ValueCounts Together(const ValueCounts& own, mpc::Ranks& ranks) {
  std::vector<Word> words{static_cast<Word>(own.records)};
  for (const auto count : own.of_values) words.push_back(static_cast<Word>(count));
  std::vector<Word> all(words.size() * static_cast<std::size_t>(ranks.count()));
  ranks.GatherToAll(words, all);
  ValueCounts counts{.records = 0, .of_values = std::vector<std::int64_t>(own.of_values.size())};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t at = k % words.size();
    (at == 0 ? counts.records : counts.of_values[at - 1]) += static_cast<std::int64_t>(all[k]);
  }
  return counts;
}

std::vector<fs::path> FilesOfRank(const std::vector<fs::path>& all, const mpc::Ranks& ranks) {
  std::vector<fs::path> own;
  for (std::size_t k = static_cast<std::size_t>(ranks.rank()); k < all.size();
       k += static_cast<std::size_t>(ranks.count()))
    own.push_back(all[k]);
  return own;
}

/// `file` is the first that this rank reads, `columns` its header.
void RequireSameHeader(const fs::path& file, const std::vector<std::string>& columns, const fs::path& first,
                       mpc::Ranks& ranks) {
  std::string text;
  for (const auto& name : columns) text += std::to_string(name.size()) + ":" + name;
  const auto own = Sha256Hex(text);
  auto expected = own;
  ranks.Broadcast(std::as_writable_bytes(std::span(expected)));
  if (!file.empty() && own != expected)
    data::ThrowDataError(file, "row 1", "another header", "that of " + first.string());
}

}  // namespace

OwnRecordValues LoadValues(const data::DataFiles& files, const data::CategoryColumn& column,
                           std::int64_t declared) {
  OwnRecordValues own{.records = data::ReadCategories(files, column, declared).of_records};
  own.of_party = CountsOf(own.records, column.values.size());
  own.absent = static_cast<std::size_t>(declared) - own.records.size();
  return own;
}

OwnRecordValues LoadSharedValues(const data::DataFiles& files, const data::CategoryColumn& column,
                                 std::int64_t declared, mpc::Ranks& ranks) {
  const auto all = files.table();
  RequireSameFiles(all, ranks);
  const auto own_files = FilesOfRank(all, ranks);
  data::Categories read;
  if (!own_files.empty()) {
    data::DataFiles part;
    part.SetTable(own_files);
    read = data::ReadCategories(part, column);
  }
  RequireSameHeader(own_files.empty() ? fs::path() : own_files[0], read.columns, all[0], ranks);
  OwnRecordValues own{.records = std::move(read.of_records)};
  own.of_party = Together(CountsOf(own.records, column.values.size()), ranks);
  if (ranks.rank() == 0) data::RequireCapacity(files, own.of_party.records, declared);
  const auto absent = declared - own.of_party.records;
  own.absent =
      static_cast<std::size_t>(absent / ranks.count() + (ranks.rank() < absent % ranks.count() ? 1 : 0));
  return own;
}

void RequireNoQuery(const data::DataFiles& files, const std::string& party_file) {
  if (!files.query.empty())
    throw ConfigError(party_file +
                      ": [data] query: found one, expected files with [party] ranks above 1, which all its "
                      "machines read the same");
}

}  // namespace trefoil::jobs

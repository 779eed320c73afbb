#include "jobs/histogram/shared_counts.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"
#include "mpc/ring.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using mpc::Word;

/// Adds what the files have to `counts`; returns the names of the columns.
std::vector<std::string> Count(const data::DataFiles& files, const data::CategoryColumn& column,
                               ValueCounts& counts) {
  return data::ForEachCategory(files, column, [&](data::Category value) {
    ++counts.records;
    if (value) ++counts.of_values.at(*value);
  });
}

ValueCounts NoneOf(const data::CategoryColumn& column) {
  return {.records = 0, .of_values = std::vector<std::int64_t>(column.values.size())};
}

/// Of each rank, at all.
std::vector<ValueCounts> OfRanks(const ValueCounts& own, mpc::Ranks& ranks) {
  std::vector<Word> words{static_cast<Word>(own.records)};
  for (const auto count : own.of_values) words.push_back(static_cast<Word>(count));
  std::vector<Word> all(words.size() * static_cast<std::size_t>(ranks.count()));
  ranks.GatherToAll(words, all);
  std::vector<ValueCounts> counts;
  for (std::size_t begin = 0; begin < all.size(); begin += words.size()) {
    const auto of_rank = std::span(all).subspan(begin, words.size());
    counts.push_back({.records = static_cast<std::int64_t>(of_rank[0]), .of_values = {}});
    for (const Word count : of_rank.subspan(1))
      counts.back().of_values.push_back(static_cast<std::int64_t>(count));
  }
  return counts;
}

ValueCounts Together(const std::vector<ValueCounts>& of_ranks) {
  ValueCounts all{.records = 0, .of_values = std::vector<std::int64_t>(of_ranks.at(0).of_values.size())};
  for (const auto& one : of_ranks) {
    all.records += one.records;
    for (std::size_t v = 0; v < all.of_values.size(); ++v) all.of_values[v] += one.of_values.at(v);
  }
  return all;
}

/// How many of the records that the party lacks this rank reports for: each rank as many as make its reports an R-th of the
/// declared, as long as there are any.
std::int64_t AbsentOf(std::int64_t declared, const std::vector<ValueCounts>& of_ranks, int rank) {
  const auto count = static_cast<std::int64_t>(of_ranks.size());
  std::int64_t left = declared - Together(of_ranks).records;
  for (std::int64_t r = 0;; ++r) {
    const std::int64_t part = declared / count + (r < declared % count ? 1 : 0);
    const std::int64_t own =
        std::clamp<std::int64_t>(part - of_ranks.at(static_cast<std::size_t>(r)).records, 0, left);
    if (r == rank) return own;
    left -= own;
  }
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

OwnValueCounts LoadValues(const data::DataFiles& files, const data::CategoryColumn& column,
                          std::int64_t declared) {
  OwnValueCounts counts{.own = NoneOf(column)};
  (void)Count(files, column, counts.own);
  data::RequireCapacity(files, counts.own.records, declared);
  counts.absent = declared - counts.own.records;
  counts.of_party = counts.own;
  return counts;
}

OwnValueCounts LoadSharedValues(const data::DataFiles& files, const data::CategoryColumn& column,
                                std::int64_t declared, FileDigest digest, mpc::Ranks& ranks) {
  const auto all = files.table();
  const auto digests = DigestsOfRank0(all, digest, ranks);
  const auto step = static_cast<std::size_t>(ranks.count());
  const auto require_same = [&] {
    for (auto k = static_cast<std::size_t>(ranks.rank()); k < all.size(); k += step)
      RequireSameFile(all[k], digest(all[k]), digests[k]);
  };
  std::vector<fs::path> own_files;
  for (auto k = static_cast<std::size_t>(ranks.rank()); k < all.size(); k += step)
    own_files.push_back(all[k]);
  if (ranks.rank() > 0) require_same();
  OwnValueCounts counts{.own = NoneOf(column)};
  std::vector<std::string> columns;
  if (!own_files.empty()) {
    data::DataFiles part;
    part.SetTable(own_files);
    columns = Count(part, column, counts.own);
  }
  require_same();
  RequireSameHeader(own_files.empty() ? fs::path() : own_files[0], columns, all[0], ranks);
  const auto of_ranks = OfRanks(counts.own, ranks);
  counts.of_party = Together(of_ranks);
  if (ranks.rank() == 0) data::RequireCapacity(files, counts.of_party.records, declared);
  ranks.Barrier();  // the others do not go on with too many
  counts.absent = AbsentOf(declared, of_ranks, ranks.rank());
  return counts;
}

void RequireNoQuery(const data::DataFiles& files, const std::string& party_file) {
  if (!files.query.empty())
    throw ConfigError(party_file +
                      ": [data] query: found one, expected files with [party] ranks above 1, which all its "
                      "machines read the same");
}

}  // namespace trefoil::jobs

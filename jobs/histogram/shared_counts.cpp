#include "jobs/histogram/shared_counts.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"
#include "data/tables/table_reader.h"
#include "jobs/ranks/of_rank0.h"
#include "mpc/ring.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using mpc::Word;

/// Adds what the files have to `counts`; returns the names of the columns.
std::vector<std::string> Count(const data::DataFiles& files, const data::CategoryColumn& column,
                               ValueCounts& counts, Sha256* on_disk = nullptr) {
  const auto take = [&](data::Category value) {
    ++counts.records;
    if (value) ++counts.of_values.at(*value);
  };
  return data::ForEachCategory(files, column, take, on_disk);
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

/// How many of the records that the party lacks this rank reports for: each rank as many as make its reports
/// an R-th of the declared, as long as there are any.
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

/// A file that this rank has counted.
struct Counted {
  std::size_t place;                 ///< in the table
  std::vector<std::string> columns;  ///< their names
  std::string on_disk;               ///< FileSha256 of what was counted
};

/// Adds one file to `counts`.
Counted CountFile(const fs::path& file, std::size_t place, const data::CategoryColumn& column,
                  ValueCounts& counts) {
  Sha256 on_disk;
  auto columns = Count(data::OneFile(file), column, counts, &on_disk);
  return {.place = place, .columns = std::move(columns), .on_disk = on_disk.Hex()};
}

/// Rank 0's texts at every rank, as OfRank0: in one text, each behind its length, as "3:age4:city".
std::vector<std::string> AllOfRank0(const std::vector<std::string>& texts, mpc::Ranks& ranks) {
  std::string joined;
  for (const auto& text : texts) joined += std::to_string(text.size()) + ":" + text;
  joined = OfRank0(std::move(joined), ranks);
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < joined.size(); begin += all.back().size()) {
    const std::size_t colon = joined.find(':', begin);
    const std::size_t size = std::stoul(joined.substr(begin, colon - begin));
    begin = colon + 1;
    all.push_back(joined.substr(begin, size));
  }
  return all;
}

/// Rank 0 hashes whole files where it has a ledger, and the others have to wait for it.
void RequireSameLedger(bool has_ledger, mpc::Ranks& ranks) {
  const std::string own = has_ledger ? "one" : "none";
  const auto of_rank_0 = OfRank0(own, ranks);
  if (own != of_rank_0)
    throw ConfigError("[ledger]: found " + own + ", expected " + of_rank_0 + ", as in rank 0's party file");
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
                                std::int64_t declared, CompareBy by, mpc::Ranks& ranks, FileDigest sample) {
  RequireSameLedger(by == CompareBy::kWhole, ranks);
  const auto all = files.table();
  const auto samples = DigestsOfRank0(all, sample, ranks);
  OwnValueCounts counts{.own = NoneOf(column)};
  std::vector<Counted> counted;
  for (auto k = static_cast<std::size_t>(ranks.rank()); k < all.size();
       k += static_cast<std::size_t>(ranks.count())) {
    RequireSameFile(all[k], sample(all[k]), samples[k]);
    counted.push_back(CountFile(all[k], k, column, counts.own));
    RequireSameFile(all[k], sample(all[k]), samples[k]);
  }
  const auto columns = AllOfRank0(counted.empty() ? std::vector<std::string>() : counted[0].columns, ranks);
  for (const auto& file : counted) data::RequireSameHeader(all[file.place], 1, file.columns, all[0], columns);
  if (by == CompareBy::kWhole) {
    const auto digests = DigestsOfRank0(all, data::FileSha256, ranks);
    for (const auto& file : counted) RequireSameFile(all[file.place], file.on_disk, digests[file.place]);
  }
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

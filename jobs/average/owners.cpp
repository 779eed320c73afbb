#include "jobs/average/owners.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "data/dealing/split.h"
#include "jobs/records/load_records.h"
#include "jobs/records/local_data.h"
#include "jobs/slices.h"

namespace trefoil::jobs {
namespace {

using RowCounts = std::vector<std::int64_t>;

constexpr std::int64_t kMaxOwners = 10'000;
constexpr std::int64_t kMaxOwnerRows = 1'000'000'000;

std::int64_t Sum(const RowCounts& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

/// `total` in `parts` parts, of which the first have one more where it does not divide.
RowCounts AlikeParts(std::int64_t total, std::int64_t parts) {
  RowCounts rows;
  for (std::int64_t k = 0; k < parts; ++k) rows.push_back(total / parts + (k < total % parts ? 1 : 0));
  return rows;
}

/// How many of `total` records each owner of `local` gets.
RowCounts LocalRows(const Owners& owners, std::int64_t total) {
  if (owners.local_rows.empty()) return AlikeParts(total, owners.all());
  if (Sum(owners.local_rows) > total) {
    throw ConfigError(
        fmt::format("local.owner_rows: found {} records in all, expected at most the {} of the data",
                    Sum(owners.local_rows), total));
  }
  return owners.local_rows;
}

/// The same, one list a party.
std::array<RowCounts, 3> RowsOfParties(const Owners& owners, const RowCounts& rows) {
  std::array<RowCounts, 3> parties;
  auto next = rows.begin();
  for (std::size_t j = 0; j < parties.size(); ++j) {
    parties.at(j) = RowCounts(next, next + owners.count.at(j));
    next += owners.count.at(j);
  }
  return parties;
}

/// Rows `first` to `first` + `count` - 1.
ml::OwnRecords Part(const ml::OwnRecords& records, std::int64_t first, std::int64_t count) {
  return {.x = records.x.middleRows(first, count),
          .y = {records.y.begin() + first, records.y.begin() + first + count}};
}

/// What there is to deal.
struct Source {
  const data::DataFiles& files;
  const data::Table& table;  ///< their records
};

void RequireRoom(const RecordSchema& schema, std::size_t party, std::int64_t rows) {
  if (rows <= schema.data.rows.at(party)) return;
  throw ConfigError(fmt::format("data.rows: found {} for party {}, expected at least the {} of its owners",
                                schema.data.rows.at(party), party, rows));
}

/// To each owner as many as local.owner_rows says, or all alike. Returns how many each party got.
std::array<std::int64_t, 3> DealInOrder(const RecordSchema& schema, const Owners& owners,
                                        const Source& source, const SplitTarget& deal) {
  const auto total = static_cast<std::int64_t>(source.table.y.size());
  const auto parties = RowsOfParties(owners, LocalRows(owners, total));
  data::Split split{.kind = data::SplitKind::kFractions};
  std::array<std::int64_t, 3> rows{};
  for (std::size_t j = 0; j < parties.size(); ++j) {
    rows.at(j) = Sum(parties.at(j));
    RequireRoom(schema, j, rows.at(j));
    split.fractions.at(j) = static_cast<double>(rows.at(j)) / static_cast<double>(total);
    deal.parties.at(j).data = data::PartyFiles(schema.data.format, "");
    deal.parties.at(j).owner_rows = parties.at(j);
  }
  (void)data::SplitSource(schema.data, source.files, split, deal.party_folders);
  return rows;
}

/// To the party of the owner that a record's hash names among all; at the party it names one of its owners.
/// (A party's owners have consecutive numbers, so that each is as likely as the others.)
std::array<std::int64_t, 3> DealByHash(const RecordSchema& schema, const Owners& owners, const Source& source,
                                       const SplitTarget& deal) {
  std::vector<int> party_of_row;
  std::array<std::int64_t, 3> rows{};
  for (const auto owner : SlicesByHash(source.table, static_cast<std::size_t>(owners.all()))) {
    const auto number = static_cast<std::int64_t>(owner);
    const int party = number < owners.count[0] ? 0 : number < owners.count[0] + owners.count[1] ? 1 : 2;
    party_of_row.push_back(party);
    ++rows.at(static_cast<std::size_t>(party));
  }
  for (std::size_t j = 0; j < rows.size(); ++j) {
    RequireRoom(schema, j, rows.at(j));
    deal.parties.at(j).data = data::PartyFiles(schema.data.format, "");
  }
  (void)data::SplitRows(schema.data, source.files, party_of_row, deal.party_folders);
  return rows;
}

/// The owners' records one after the other in the file, as many as [owners] rows say; all are an only
/// owner's.
std::vector<ml::OwnRecords> LoadInOrder(const RecordSchema& schema, std::int64_t count,
                                        const PartyFile& party, const std::string& party_file,
                                        std::size_t threads) {
  const auto records = LoadOwnRecords(schema, party.id, party.data,
                                      {.threads = threads, .feature_model = party.feature_model});
  const auto total = static_cast<std::int64_t>(records.y.size());
  const auto rows = party.owner_rows.empty() ? RowCounts{total} : party.owner_rows;
  if (static_cast<std::int64_t>(rows.size()) != count || Sum(rows) != total) {
    throw ConfigError(
        fmt::format("{}: owners.rows: found {} numbers of sum {}, expected {} of sum {}, as many as "
                    "the job's owners here and the file's records",
                    party_file, rows.size(), Sum(rows), count, total));
  }
  std::vector<ml::OwnRecords> parts;
  std::int64_t first = 0;
  for (const auto number : rows) {
    parts.push_back(Part(records, first, number));
    first += number;
  }
  return parts;
}

/// An image that comes, goes or gets another name moves all behind it in the order of a folder: to other
/// owners, if that order said whose they are.
void RefuseOrderOfImages(const RecordSchema& schema, std::int64_t owners, const std::string& place) {
  if (schema.data.format != data::Format::kImages || owners <= 1) return;
  throw ConfigError(
      place +
      ": found several owners of one folder of images, expected one: images have no order that numbers could "
      "go by; without numbers, and for records that are added or removed, they go to owners by their hash");
}

void CheckSizes(const Owners& owners, const std::vector<ml::OwnRecords>& parts, const PartyFile& party,
                bool said) {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto number = static_cast<std::int64_t>(parts[k].y.size());
    if (number <= owners.max_rows) continue;
    throw DataError(fmt::format(
        "{}: owner {} of {} here: found {} records, expected at most {} (owners.most_rows){}",
        party.data.place().string(), k + 1, parts.size(), number, owners.max_rows,
        said ? "" : "; without [owners] rows in the party file records go to owners by their hash"));
  }
}

}  // namespace

void OwnerFields(FieldVisitor& v, Owners& s, const data::DataSpec& data) {
  v("count", s.count, OfEachParty{kMaxOwners, false}, "Owners that each party acts for, public.");
  const auto declared = *std::max_element(data.rows.begin(), data.rows.end());
  const auto largest = declared > 0 ? declared : kMaxOwnerRows;
  v("most_rows", s.max_rows, WholeInterval{1, largest}, Default(largest).Said("the largest of `data.rows`"),
    "Public bound of an owner's records.");
  v("least_rows", s.min_rows, WholeInterval{1, s.max_rows > 0 ? s.max_rows : kMaxOwnerRows},
    "Public: an owner with fewer records counts as one with so many, the missing ones as zeros.");
}

void OwnerRowsField(FieldVisitor& v, Owners& s) {
  const auto of_each = fmt::format("{} whole numbers from 0, one for each owner", s.all());
  v("owner_rows", s.local_rows, Wholes{{0, kMaxOwnerRows}, of_each},
    Default(RowCounts()).Said("by hash; for one replaced all alike").LeftOut(),
    "How many records each owner gets in `local`, in the data's order. Not of images, where there are "
    "several owners. Not hashed.");
  v.Check([&](const Section& local) {
    if (!s.local_rows.empty() && static_cast<std::int64_t>(s.local_rows.size()) != s.all())
      local.Refuse("owner_rows", of_each);
  });
}

std::string DealToOwners(const RecordSchema& schema, const Owners& owners, const SplitTarget& deal) {
  const bool by_hash = owners.by_hash && owners.local_rows.empty();
  if (!by_hash)
    RefuseOrderOfImages(schema, owners.all(), owners.by_hash ? "local.owner_rows" : "owners.count");
  const auto folder = FindDataFolder(schema.data.name, deal.job_file, deal.data);
  const auto files = data::FindTrainingFiles(schema.data, folder);
  const auto table = data::Load(schema.data, files);
  const auto rows = by_hash ? DealByHash(schema, owners, {files, table}, deal)
                            : DealInOrder(schema, owners, {files, table}, deal);
  if (const auto test = data::FindTestFiles(schema.data, folder)) data::CopyTestFiles(*test, deal.test);
  return fmt::format("dealing {} to {}, {} and {} owners at three parties{}: rows {}, {}, {}",
                     folder.lexically_normal().string(), owners.count[0], owners.count[1], owners.count[2],
                     by_hash ? ", by hash" : "", rows[0], rows[1], rows[2]);
}

std::vector<ml::OwnRecords> LoadOwners(const RecordSchema& schema, const Owners& owners,
                                       const PartyFile& party, const std::string& party_file,
                                       std::size_t threads) {
  const auto count = owners.count.at(static_cast<std::size_t>(party.id));
  if (count == 0) {
    if (party.owner_rows.empty()) return {};
    throw ConfigError(party_file +
                      ": owners.rows: found numbers, expected none: the job declares no owners here");
  }
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  const bool said = !party.owner_rows.empty() || count == 1;
  if (said || !owners.by_hash)
    RefuseOrderOfImages(schema, count, party_file + (said ? ": owners.rows" : ": owners.count"));
  if (!said && !owners.by_hash) {
    throw ConfigError(
        fmt::format("{}: missing owners.rows, expected {} numbers, of each owner's records: where a record "
                    "is replaced by another, owners by the records' hash would not do, as two of them would "
                    "change",
                    party_file, count));
  }
  auto parts = said ? LoadInOrder(schema, count, party, party_file, threads)
                    : LoadSlicesByHash(schema, party, static_cast<std::size_t>(count), threads);
  CheckSizes(owners, parts, party, said);
  return parts;
}

}  // namespace trefoil::jobs

#include "apps/owners.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/evaluation.h"
#include "apps/local_data.h"
#include "base/error.h"
#include "data/folders.h"
#include "data/split.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kMostOwners = 10'000;

std::int64_t Sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

/// `total` in `parts` parts, of which the first have one more where it does not divide.
Numbers AlikeParts(std::int64_t total, std::int64_t parts) {
  Numbers rows;
  for (std::int64_t k = 0; k < parts; ++k) rows.push_back(total / parts + (k < total % parts ? 1 : 0));
  return rows;
}

/// How many of `total` records each owner of `local` gets.
Numbers LocalRows(const Owners& owners, std::int64_t total) {
  if (owners.local_rows.empty()) return AlikeParts(total, owners.all());
  if (Sum(owners.local_rows) > total) {
    throw ConfigError(
        fmt::format("local.owner_rows: found {} records in all, expected at most the {} of the data",
                    Sum(owners.local_rows), total));
  }
  return owners.local_rows;
}

/// The same, one list a party.
std::array<Numbers, 3> RowsOfParties(const Owners& owners, const Numbers& rows) {
  std::array<Numbers, 3> parties;
  auto next = rows.begin();
  for (std::size_t j = 0; j < parties.size(); ++j) {
    parties.at(j) = Numbers(next, next + owners.count.at(j));
    next += owners.count.at(j);
  }
  return parties;
}

/// Rows `first` to `first` + `count` - 1.
ml::OwnRecords Part(const ml::OwnRecords& records, std::int64_t first, std::int64_t count) {
  return {.x = records.x.middleRows(first, count),
          .y = {records.y.begin() + first, records.y.begin() + first + count}};
}

}  // namespace

const std::vector<std::string>& OwnerKeys() {
  static const std::vector<std::string> keys{"owners.count", "owners.least_rows", "owners.most_rows",
                                             "local.owner_rows"};
  return keys;
}

Owners ReadOwners(const toml::table& root, const std::string& file, const data::DataSpec& data) {
  const Section document(root, file);
  const auto section = document.Table("owners");
  const std::string expected =
      fmt::format("three whole numbers from 0 to {}, one for each party, not all 0", kMostOwners);
  const auto count = section.Wholes("count", {0, kMostOwners}, expected);
  if (count.size() != 3 || Sum(count) == 0) section.Refuse("count", expected);
  Owners owners;
  std::copy(count.begin(), count.end(), owners.count.begin());
  const auto largest = std::max<std::int64_t>(1, *std::max_element(data.rows.begin(), data.rows.end()));
  owners.most_rows = section.Whole("most_rows", {1, largest}, largest);
  owners.least_rows = section.Whole("least_rows", {1, owners.most_rows});
  const auto local = document.Table("local");
  const std::string of_each = fmt::format("{} whole numbers from 0, one for each owner", owners.all());
  if (local.Has("owner_rows")) owners.local_rows = local.Wholes("owner_rows", {0, 1'000'000'000}, of_each);
  if (!owners.local_rows.empty() && static_cast<std::int64_t>(owners.local_rows.size()) != owners.all())
    local.Refuse("owner_rows", of_each);
  return owners;
}

Json OwnersJson(const Owners& owners) {
  return {{"count", owners.count}, {"least_rows", owners.least_rows}, {"most_rows", owners.most_rows}};
}

std::string OwnersLocalJson(const Owners& owners) {
  return owners.local_rows.empty() ? "{}" : Json{{"owner_rows", owners.local_rows}}.dump();
}

std::string DealToOwners(const Job& schema, const Owners& owners, const TaskDeal& deal) {
  const auto folder = FindDataFolder(schema.data.name, deal.job_file, deal.data);
  const auto files = data::FindTrainingFiles(schema.data, folder);
  const auto total = static_cast<std::int64_t>(data::Load(schema.data, files).y.size());
  const auto parties = RowsOfParties(owners, LocalRows(owners, total));
  data::Split split{.kind = data::SplitKind::kFractions};
  for (std::size_t j = 0; j < parties.size(); ++j) {
    const auto rows = Sum(parties.at(j));
    if (rows > schema.data.rows.at(j)) {
      throw ConfigError(
          fmt::format("data.rows: found {} for party {}, expected at least the {} of its owners",
                      schema.data.rows.at(j), j, rows));
    }
    split.fractions.at(j) = static_cast<double>(rows) / static_cast<double>(total);
    deal.parties.at(j).data = data::PartyFiles(schema.data.format, "");
    deal.parties.at(j).owner_rows = parties.at(j);
  }
  (void)data::SplitSource(schema.data, files, split, deal.party_folders);
  if (const auto test = data::FindTestFiles(schema.data, folder)) data::CopyTestFiles(*test, deal.test);
  return fmt::format("dealing {} to {}, {} and {} owners at three parties: rows {}, {}, {}",
                     folder.lexically_normal().string(), owners.count[0], owners.count[1], owners.count[2],
                     Sum(parties[0]), Sum(parties[1]), Sum(parties[2]));
}

std::vector<ml::OwnRecords> LoadOwners(const Job& schema, const Owners& owners, const PartyFile& party,
                                       const std::string& party_file) {
  const auto count = owners.count.at(static_cast<std::size_t>(party.id));
  if (count == 0) {
    if (party.owner_rows.empty()) return {};
    throw ConfigError(party_file +
                      ": owners.rows: found numbers, expected none: the job declares no owners here");
  }
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  const auto records = LoadOwnRecords(schema, party.id, party.data, {.feature_model = party.feature_model});
  const auto total = static_cast<std::int64_t>(records.y.size());
  const auto rows = party.owner_rows.empty() ? AlikeParts(total, count) : party.owner_rows;
  if (static_cast<std::int64_t>(rows.size()) != count || Sum(rows) != total) {
    throw ConfigError(
        fmt::format("{}: owners.rows: found {} numbers of sum {}, expected {} of sum {}, as many as "
                    "the job's owners here and the file's records",
                    party_file, rows.size(), Sum(rows), count, total));
  }
  std::vector<ml::OwnRecords> parts;
  std::int64_t first = 0;
  for (const auto number : rows) {
    if (number < owners.least_rows || number > owners.most_rows) {
      throw DataError(fmt::format(
          "{}: owner {} of {} here: found {} records, expected {} to {} (owners.least_rows, "
          "owners.most_rows)",
          party.data.rows().string(), parts.size() + 1, count, number, owners.least_rows, owners.most_rows));
    }
    parts.push_back(Part(records, first, number));
    first += number;
  }
  return parts;
}

}  // namespace trefoil::apps

#include "runtime/ledger/known_records.h"

#include <sodium.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/sketch/raw_records.h"
#include "dp/ledger/ledger_chain.h"
#include "jobs/files/sealed_file.h"
#include "runtime/resume/chain_file.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFileName = "known_records.jsonl";
constexpr const char* kKnownRecords = "the records that populations have had";
constexpr jobs::SealedKind kTagKey{.magic = "", .purpose = "trefoil record tags", .what = "record tags"};
constexpr std::size_t kTagDigits = 16;

std::uint64_t TagOf(const SecretKey& key, std::string_view record) {
  static_assert(SecretKey::kBytes >= crypto_shorthash_KEYBYTES);
  std::array<unsigned char, crypto_shorthash_BYTES> hash{};
  crypto_shorthash(hash.data(), reinterpret_cast<const unsigned char*>(record.data()), record.size(),
                   key.bytes().data());
  std::uint64_t tag = 0;
  for (const auto byte : hash) tag = tag << 8 | byte;
  return tag;
}

std::string NameOf(const SecretKey& key) {
  return fmt::format("{:016x}", TagOf(key, "trefoil record tags: key"));
}

/// What a population has had.
struct Population {
  std::string ledger;
  std::set<std::string> data{};
  std::vector<std::uint64_t> tags{};  ///< ascending
};
using Populations = std::map<std::string, Population>;

std::string TextIn(const Json& entry, const char* key) {
  if (!entry.contains(key) || !entry.at(key).is_string())
    dp::RefuseEntry(fmt::format("no {}", key), "a text");
  return entry.at(key).get<std::string>();
}

std::vector<std::uint64_t> TagsIn(const std::string& digits) {
  if (digits.size() % kTagDigits != 0) dp::RefuseEntry("tags of another length", "16 digits each");
  std::vector<std::uint64_t> tags(digits.size() / kTagDigits);
  for (std::size_t k = 0; k < tags.size(); ++k) {
    const char* begin = digits.data() + k * kTagDigits;
    const auto [end, error] = std::from_chars(begin, begin + kTagDigits, tags[k], 16);
    if (error != std::errc() || end != begin + kTagDigits)
      dp::RefuseEntry("a tag that is no number", "16 digits");
  }
  if (!std::is_sorted(tags.begin(), tags.end())) dp::RefuseEntry("tags out of order", "ascending ones");
  return tags;
}

std::string DigitsOf(const std::vector<std::uint64_t>& tags) {
  std::string digits;
  digits.reserve(tags.size() * kTagDigits);
  for (const auto tag : tags) fmt::format_to(std::back_inserter(digits), "{:016x}", tag);
  return digits;
}

/// Those of `tags` that are (or are not) in the others; all ascending.
std::vector<std::uint64_t> Common(const std::vector<std::uint64_t>& tags,
                                  const std::vector<std::uint64_t>& others) {
  std::vector<std::uint64_t> common;
  std::set_intersection(tags.begin(), tags.end(), others.begin(), others.end(), std::back_inserter(common));
  return common;
}

std::vector<std::uint64_t> Without(const std::vector<std::uint64_t>& tags,
                                   const std::vector<std::uint64_t>& others) {
  std::vector<std::uint64_t> rest;
  std::set_difference(tags.begin(), tags.end(), others.begin(), others.end(), std::back_inserter(rest));
  return rest;
}

void Apply(const Json& entry, const std::string& key, const fs::path& file, Populations& populations) {
  if (TextIn(entry, "kind") != "records") dp::RefuseEntry("another kind", "\"records\"");
  if (TextIn(entry, "key") != key) {
    throw ConfigError(fmt::format(
        "{}: found records hashed with another key than that of [storage], expected the same: name the "
        "old one there, or move the file away: then no record in it is known any more",
        file.string()));
  }
  const auto ledger = TextIn(entry, "ledger");
  auto& population = populations[TextIn(entry, "population")];
  if (!population.ledger.empty() && population.ledger != ledger)
    dp::RefuseEntry("a second ledger of a population", "the first");
  const auto tags = TagsIn(TextIn(entry, "tags"));
  std::vector<std::uint64_t> all;
  std::set_union(population.tags.begin(), population.tags.end(), tags.begin(), tags.end(),
                 std::back_inserter(all));
  population.ledger = ledger;
  population.data.insert(TextIn(entry, "sha256"));
  population.tags = std::move(all);
}

/// Under the chain's lock.
Populations Follow(ChainFile& chain, const std::string& key) {
  Populations populations;
  chain.Follow([&](const Json& entry) { Apply(entry, key, chain.file(), populations); });
  return populations;
}

Populations Read(const fs::path& file, const std::string& key) {
  if (!fs::exists(file)) return {};
  ChainFile chain(file, ChainFile::Access::kRead, kKnownRecords);
  const ChainFile::Locked locked(chain);
  return Follow(chain, key);
}

/// Whether a population has had the data set. Throws ConfigError where its budget is in another ledger.
bool HasHad(const Populations& populations, const PopulationClaim& claim, const std::string& ledger,
            const fs::path& file) {
  const auto found = populations.find(claim.population);
  if (found == populations.end()) return false;
  if (found->second.ledger != ledger)
    throw ConfigError(
        fmt::format("{}: found population \"{}\" asked for with ledger {}, expected ledger {}, which has "
                    "its budget",
                    file.string(), claim.population, ledger, found->second.ledger));
  return found->second.data.contains(claim.data);
}

std::vector<std::uint64_t> NewTags(const Populations& populations, const PopulationClaim& claim) {
  const auto own = populations.find(claim.population);
  return own == populations.end() ? claim.records.tags : Without(claim.records.tags, own->second.tags);
}

KnownRecords::Equal EqualIn(const Populations& populations, const PopulationClaim& claim) {
  const auto tags = NewTags(populations, claim);
  KnownRecords::Equal equal{.fresh = tags.size()};
  std::vector<std::uint64_t> all;
  for (const auto& [name, population] : populations) {
    if (name == claim.population) continue;
    const auto common = Common(tags, population.tags);
    if (!common.empty() && all.empty()) {
      equal.population = name;
      equal.ledger = population.ledger;
    }
    std::vector<std::uint64_t> more;
    std::set_union(all.begin(), all.end(), common.begin(), common.end(), std::back_inserter(more));
    all = std::move(more);
  }
  equal.count = all.size();
  return equal;
}

}  // namespace

std::string TagKeyOf(const jobs::PartyFile& party) { return NameOf(jobs::StorageKey(party, kTagKey)); }

RecordTags TagsOf(const jobs::PartyFile& party, const data::DataFiles& files) {
  const auto key = jobs::StorageKey(party, kTagKey);
  RecordTags records{.key = NameOf(key), .tags = {}};
  auto& tags = records.tags;
  data::ForEachRawRecord(files, [&](std::string_view record) { tags.push_back(TagOf(key, record)); });
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return records;
}

KnownRecords::KnownRecords(const fs::path& ledger)
    : KnownRecords(ledger.parent_path() / kFileName, ledger.filename().string()) {}

bool KnownRecords::Knows(const PopulationClaim& claim) const {
  return HasHad(Read(file_, claim.records.key), claim, ledger_, file_);
}

KnownRecords::Equal KnownRecords::Compare(const PopulationClaim& claim) const {
  const auto populations = Read(file_, claim.records.key);
  return HasHad(populations, claim, ledger_, file_) ? Equal() : EqualIn(populations, claim);
}

void KnownRecords::Enter(const PopulationClaim& claim) const {
  ChainFile chain(file_, ChainFile::Access::kAppend, kKnownRecords);
  const ChainFile::Locked locked(chain);
  const auto populations = Follow(chain, claim.records.key);
  if (HasHad(populations, claim, ledger_, file_)) return;
  if (!claim.by_chance) RequireNone(EqualIn(populations, claim));
  chain.Append({{"kind", "records"},
                {"key", claim.records.key},
                {"ledger", ledger_},
                {"population", claim.population},
                {"sha256", claim.data},
                {"tags", DigitsOf(NewTags(populations, claim))}});
}

void KnownRecords::RequireNone(const Equal& equal) const {
  if (equal.count == 0) return;
  throw DataError(fmt::format(
      "{}: found records that population \"{}\" has, too, expected none: name its ledger {} in "
      "[ledger], or, only if they are others' and equal by chance, run: trefoil ledger declare "
      "--equal-by-chance; of test records, which have a ledger of their own: take these out, or, if equal "
      "by chance, add --evaluation",
      file_.string(), equal.population, equal.ledger));
}

}  // namespace trefoil::runtime

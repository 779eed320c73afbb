#include "runtime/ledger/known_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset/data_hash.h"
#include "runtime/ledger/run_budget.h"
#include "tests/apps/ledger_requests.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/limited_files.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

PopulationClaim Claimed(const std::string& population, char data, std::vector<std::uint64_t> tags) {
  return {.population = population,
          .data = std::string(64, data),
          .records = {.key = "0123456789abcdef", .tags = std::move(tags)}};
}

jobs::PartyFile PartyWith(const TemporaryFolder& folder, const std::string& key) {
  jobs::PartyFile party;
  party.storage_key = folder.path() / key;
  WriteSecretFile(party.storage_key, std::string(32, key[0]));
  return party;
}

TEST(ClaimOf, RefusesAPopulationOfNoFile) {
  const TemporaryFolder folder;
  const auto party = PartyWith(folder, "a");
  jobs::LedgerSettings ledger;
  ledger.file = folder.path() / "l.jsonl";
  const data::DataFiles none;
  EXPECT_FALSE(ClaimOf({.party = party, .ledger = ledger, .files = none}, std::string(64, 'a')));
  ledger.population = "patients";
  EXPECT_THROW((void)ClaimOf({.party = party, .ledger = ledger, .files = none}, std::string(64, 'a')),
               ConfigError);
}

TEST(ClaimOf, RefusesFilesThatAreNoLongerThoseOfTheHash) {
  const TemporaryFolder folder;
  const auto party = PartyWith(folder, "a");
  jobs::LedgerSettings ledger;
  ledger.file = folder.path() / "l.jsonl";
  ledger.population = "patients";
  const auto files = data::OneFile(folder.Write("first.csv", "x,y\n1,2\n"));
  const auto data = data::DataHash(files);
  EXPECT_EQ(ClaimOf({.party = party, .ledger = ledger, .files = files}, data)->records.tags.size(), 1U);
  folder.Write("first.csv", "x,y\n3,4\n5,6\n");
  EXPECT_THROW((void)ClaimOf({.party = party, .ledger = ledger, .files = files}, data), DataError);
}

TEST(RecordTags, AreOfRecordsAndOfTheKeyAlone) {
  const TemporaryFolder folder;
  const auto party = PartyWith(folder, "a");
  const auto first = TagsOf(party, data::OneFile(folder.Write("first.csv", "x,y\n1,2\n3,4\n1,2\n")));
  const auto second = TagsOf(party, data::OneFile(folder.Write("second.csv", "y;z\n3;4\n1;2\n")));
  EXPECT_EQ(first.tags.size(), 2U);
  EXPECT_EQ(first.tags, second.tags);
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(first.key, TagKeyOf(party));
  const auto other = TagsOf(PartyWith(folder, "b"), data::OneFile(folder.path() / "first.csv"));
  EXPECT_NE(other.key, first.key);
  std::vector<std::uint64_t> common;
  std::set_intersection(first.tags.begin(), first.tags.end(), other.tags.begin(), other.tags.end(),
                        std::back_inserter(common));
  EXPECT_TRUE(common.empty());
}

TEST(KnownRecords, FindsRecordsOfAnotherPopulation) {
  const TemporaryFolder folder;
  const KnownRecords patients(folder.path() / "patients.jsonl");
  const KnownRecords visitors(folder.path() / "visitors.jsonl");
  const auto first = Claimed("patients", 'a', {1, 2, 3});
  EXPECT_FALSE(patients.Knows(first));
  patients.Enter(first);
  EXPECT_TRUE(patients.Knows(first));
  patients.Enter(first);                                // which changes nothing
  patients.Enter(Claimed("patients", 'b', {2, 3, 4}));  // its own may come again
  const auto file = folder.path() / "known_records.jsonl";
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto before = ReadTextFile(file, "records");
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 2);
  EXPECT_THAT(before, HasSubstr("\"tags\":\"0000000000000004\""));

  auto claim = Claimed("visitors", 'c', {4, 5, 6});
  const auto equal = visitors.Compare(claim);
  EXPECT_EQ(equal.count, 1U);
  EXPECT_EQ(equal.fresh, 3U);
  const auto error = ErrorOf([&] { visitors.Enter(claim); });
  EXPECT_THAT(
      error,
      HasSubstr("known_records.jsonl: found records that population \"patients\" has, too, expected none: "
                "name its ledger patients.jsonl in [ledger], or"));
  EXPECT_THAT(error, HasSubstr("; of test records, which have a ledger of their own: take these out, or"));
  EXPECT_THROW(visitors.Enter(claim), DataError);
  EXPECT_EQ(ReadTextFile(file, "records"), before);
  claim.by_chance = true;
  visitors.Enter(claim);
  EXPECT_TRUE(visitors.Knows(claim));
  EXPECT_EQ(visitors.Compare(Claimed("visitors", 'd', {4, 6})).count, 0U);  // said once is enough
  EXPECT_EQ(visitors.Compare(Claimed("visitors", 'd', {1, 4, 6})).count, 1U);
}

TEST(KnownRecords, RefusesASecondLedgerOfAPopulationAndAnotherKey) {
  const TemporaryFolder folder;
  auto claim = Claimed("patients", 'a', {1});
  KnownRecords(folder.path() / "first.jsonl").Enter(claim);
  const KnownRecords second(folder.path() / "second.jsonl");
  EXPECT_THAT(
      ErrorOf([&] { second.Enter(claim); }),
      HasSubstr(
          "found population \"patients\" asked for with ledger second.jsonl, expected ledger first.jsonl"));
  EXPECT_THROW((void)second.Knows(claim), ConfigError);
  claim.records.key = "another";
  EXPECT_THROW(KnownRecords(folder.path() / "first.jsonl").Enter(claim), ConfigError);
}

TEST(KnownRecords, RefusesAFileThatWasChanged) {
  const TemporaryFolder folder;
  const KnownRecords records(folder.path() / "l");
  records.Enter(Claimed("patients", 'a', {1}));
  const auto file = folder.path() / "known_records.jsonl";
  auto text = ReadTextFile(file, "records");
  text[text.find("0000000000000001") + 15] = '2';
  folder.Write("known_records.jsonl", text);
  EXPECT_THAT(ErrorOf([&] { (void)records.Knows(Claimed("patients", 'b', {})); }),
              HasSubstr("line 1: found another hash"));
}

// Both see that nobody has the records before either enters them, were there no lock.
TEST(KnownRecords, GivesARecordToOneOfTwoPopulationsAtOnce) {
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> entered = 0;
    std::vector<std::thread> threads;
    for (const char* name : {"p", "q", "r", "s"}) {
      threads.emplace_back([&, name] {
        try {
          KnownRecords(folder.path() / name)
              .Enter(Claimed(name, static_cast<char>('a' + round % 6), {std::uint64_t(round)}));
          ++entered;
        } catch (const DataError&) {
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(entered, 1) << round;
    fs::remove(folder.path() / "known_records.jsonl");
  }
}

TEST(KnownRecords, IsAsItWasWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  const KnownRecords records(folder.path() / "l");
  records.Enter(Claimed("patients", 'a', {1}));
  const auto file = folder.path() / "known_records.jsonl";
  const auto before = ReadTextFile(file, "records");
  EXPECT_EQ(
      WithLimitedFiles(before.size() + 100,
                       [&] { records.Enter(Claimed("patients", 'b', std::vector<std::uint64_t>(1000, 7))); }),
      0);
  EXPECT_EQ(ReadTextFile(file, "records"), before);
  records.Enter(Claimed("patients", 'b', {7}));
  EXPECT_TRUE(records.Knows(Claimed("patients", 'b', {})));
}

}  // namespace
}  // namespace trefoil::runtime

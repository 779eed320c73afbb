#include "jobs/average/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "base/error.h"
#include "data/formats/image_decoder.h"
#include "jobs/average/settings.h"
#include "ml/clear/logistic_regression.h"
#include "tests/apps/temporary_folder.h"
#include "tests/data/image_bytes.h"

namespace trefoil::jobs {
namespace {

using Row = std::vector<float>;  // features, then the label
using OwnersRows = std::vector<std::multiset<Row>>;

AverageSettings OwnersWith(const std::string& count, const std::string& privacy = "") {
  const auto text = R"(
version = 1
type = "classifier-average"
name = "owners"
[data]
name = "owners"
format = "csv"
rows = [500, 500, 500]
classes = 2
label = { column = "y", values = ["0", "1"] }
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[owners]
least_rows = 1
count = )" + count +
                    R"(
[average]
lambda = 0.5
tolerance = 1e-10
[privacy]
epsilon = 1.0
delta = 1e-5
)" + privacy;
  return ReadAverageSettings(toml::parse(text), "owners.toml");
}

/// Records, a line each; every seventh repeats the one before.
std::vector<std::string> OwnersLines(int count) {
  std::mt19937_64 generator(3);
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    const auto line = std::to_string(generator() % 512) + "e-3," + std::to_string(generator() % 512) +
                      "e-3," + std::to_string(generator() % 2);
    lines.push_back(i % 7 == 6 ? lines.back() : line);
  }
  return lines;
}

std::string Csv(const std::vector<std::string>& lines) {
  std::string text = "a,b,y\n";
  for (const auto& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> Without(std::vector<std::string> lines, std::size_t gone) {
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(gone));
  return lines;
}

OwnersRows RowsOf(const std::vector<ml::OwnRecords>& owners) {
  OwnersRows all;
  for (const auto& owner : owners) {
    auto& rows = all.emplace_back();
    for (std::size_t i = 0; i < owner.y.size(); ++i) {
      const auto row = owner.x.row(static_cast<Eigen::Index>(i));
      rows.insert({row(0), row(1), static_cast<float>(owner.y[i])});
    }
  }
  return all;
}

/// One owner lacks one record, and all others have what they had.
void ExpectOneRecordLess(const OwnersRows& all, const OwnersRows& fewer, std::size_t gone) {
  ASSERT_EQ(all.size(), fewer.size());
  int changed = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (fewer[k] == all[k]) continue;
    ++changed;
    EXPECT_EQ(fewer[k].size() + 1, all[k].size()) << "record " << gone;
    EXPECT_TRUE(std::includes(all[k].begin(), all[k].end(), fewer[k].begin(), fewer[k].end()));
  }
  EXPECT_EQ(changed, 1) << "record " << gone;
}

/// The owners of party 0, whose file has these lines and no numbers.
std::vector<ml::OwnRecords> Load(const AverageSettings& job, const std::vector<std::string>& lines,
                                 std::vector<std::int64_t> owner_rows = {}) {
  const TemporaryFolder folder;
  PartyFile party;
  party.data.file = folder.Write("train.csv", Csv(lines));
  party.owner_rows = std::move(owner_rows);
  return LoadOwners(job.schema, job.owners, party, "party.toml");
}

// Whichever record is taken away, wherever it stands, one owner's records alone change.
TEST(LoadOwners, MovesNoRecordWhereOneIsRemoved) {
  const auto lines = OwnersLines(120);
  for (const auto* count : {"[2, 1, 0]", "[7, 5, 5]"}) {
    const auto job = OwnersWith(count);
    const auto all = RowsOf(Load(job, lines));
    for (std::size_t gone = 0; gone < lines.size(); ++gone)
      ExpectOneRecordLess(all, RowsOf(Load(job, Without(lines, gone))), gone);
  }
}

// What the noise is scaled to: contiguous parts of the file move the sum by several times as much.
TEST(LoadOwners, KeepsTheSumOfClassifiersWithinItsSensitivity) {
  const auto lines = OwnersLines(120);
  const auto job = OwnersWith("[7, 5, 5]");
  auto settings = AverageSettingsOf(job);
  const auto sum_of = [&](const std::vector<ml::OwnRecords>& owners) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(settings.weights());
    for (const auto& owner : owners) sum += ml::FitLogistic(owner, job.solver);
    return sum;
  };
  const auto owners = Load(job, lines);
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const auto& owner : owners) smallest = std::min(smallest, owner.y.size());
  const double bound = ml::SumSensitivity(settings, static_cast<std::int64_t>(smallest)) /
                       std::ldexp(1.0, settings.fraction_bits);
  const Eigen::VectorXd sum = sum_of(owners);
  double largest = 0;
  for (std::size_t gone = 0; gone < lines.size(); ++gone)
    largest = std::max(largest, (sum - sum_of(Load(job, Without(lines, gone)))).lpNorm<1>());
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.05 * bound);
}

TEST(LoadOwners, DealsEqualRecordsToOneOwner) {
  const std::vector<std::string> lines(30, "0.25,0.5,1");
  std::size_t owners_with_some = 0;
  for (const auto& owner : RowsOf(Load(
           [] {
             auto job = OwnersWith("[7, 5, 5]");
             job.owners.min_rows = 0;
             return job;
           }(),
           lines)))
    owners_with_some += owner.empty() ? 0 : 1;
  EXPECT_EQ(owners_with_some, 1U);
}

// A refusal would be seen by the others: at the edge one record would have no epsilon.
TEST(LoadOwners, TakesOwnersWithFewerRecordsThanTheLeast) {
  auto job = OwnersWith("[3, 0, 0]");
  job.owners.min_rows = 25;
  const auto owners = RowsOf(Load(job, OwnersLines(30), {0, 24, 6}));
  EXPECT_TRUE(owners.at(0).empty());
  EXPECT_EQ(owners.at(1).size(), 24U);
  EXPECT_EQ(Load(job, {}).size(), 3U);
}

// Where the smallest owner has the least number of records and fewer, down to none.
TEST(LoadOwners, KeepsTheSumWithinItsSensitivityBelowTheLeastNumber) {
  auto job = OwnersWith("[2, 0, 0]");
  job.owners.min_rows = 8;
  const auto settings = AverageSettingsOf(job);
  const double bound = ml::SumSensitivity(settings, 8) / std::ldexp(1.0, settings.fraction_bits);
  const auto sum_of = [&](const std::vector<ml::OwnRecords>& owners) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(settings.weights());
    for (const auto& owner : owners) sum += ml::FitLogistic(owner, job.solver, job.owners.min_rows);
    return sum;
  };
  auto lines = OwnersLines(20);
  double largest = 0;
  while (!lines.empty()) {
    const auto fewer = Without(lines, 0);
    largest = std::max(largest, (sum_of(Load(job, lines)) - sum_of(Load(job, fewer))).lpNorm<1>());
    lines = fewer;
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.05 * bound);
}

TEST(LoadOwners, TakesTheNumbersThatTheOwnersSay) {
  const auto lines = OwnersLines(30);
  const auto owners = RowsOf(Load(OwnersWith("[3, 0, 0]"), lines, {5, 15, 10}));
  EXPECT_EQ(owners.at(1).size(), 15U);
  EXPECT_EQ(RowsOf(Load(OwnersWith("[1, 0, 0]"), lines)).at(0).size(), 30U);
}

// A record replaced by another leaves one owner and comes to a second: that is not what was promised.
TEST(LoadOwners, WantsNumbersWhereARecordIsReplacedByAnother) {
  const auto replaced = OwnersWith("[3, 0, 0]", "neighbours = \"replaced\"\n");
  try {
    (void)Load(replaced, OwnersLines(30));
    FAIL() << "taken by hash";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("party.toml: missing owners.rows, expected 3 numbers"));
  }
  EXPECT_EQ(Load(replaced, OwnersLines(30), {5, 15, 10}).size(), 3U);
  EXPECT_EQ(Load(OwnersWith("[1, 0, 0]", "neighbours = \"replaced\"\n"), OwnersLines(30)).size(), 1U);
}

TEST(LoadOwners, SaysWhereTheSizesComeFromThatItRefuses) {
  auto job = OwnersWith("[3, 0, 0]");
  job.owners.max_rows = 5;
  try {
    (void)Load(job, OwnersLines(30));
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("without [owners] rows in the party file"));
  }
}

/// The owners of all three parties, as `local` deals these lines.
OwnersRows Split(const AverageSettings& job, const std::vector<std::string>& lines) {
  const TemporaryFolder folder;
  (void)folder.Write("train.csv", Csv(lines));
  std::array<PartyFile, 3> parties;
  SplitTarget deal{.job_file = folder.path() / "job.toml",
                   .data = folder.path(),
                   .test = folder.path() / "test",
                   .party_folders = {},
                   .parties = parties};
  for (std::size_t j = 0; j < 3; ++j) deal.party_folders.at(j) = folder.path() / std::to_string(j);
  (void)DealToOwners(job.schema, job.owners, deal);
  OwnersRows all;
  for (std::size_t j = 0; j < 3; ++j) {
    parties.at(j).id = static_cast<int>(j);
    parties.at(j).data.file = deal.party_folders.at(j) / parties.at(j).data.file;
    for (auto& owner : RowsOf(LoadOwners(job.schema, job.owners, parties.at(j), "party.toml")))
      all.push_back(std::move(owner));
  }
  return all;
}

TEST(DealToOwners, MovesNoRecordWhereOneIsRemoved) {
  const auto lines = OwnersLines(120);
  const auto job = OwnersWith("[3, 0, 4]");
  const auto all = Split(job, lines);
  ASSERT_EQ(all.size(), 7U);
  for (std::size_t gone = 0; gone < lines.size(); ++gone)
    ExpectOneRecordLess(all, Split(job, Without(lines, gone)), gone);
}

// 490 records to 7 owners, of which a seventh repeats the one before: 70 on average, deviation at most
// sqrt(420 * 6/49 + 4 * 70 * 6/49) < 9.3; beyond 5.5 of them by chance with probability below 1e-6.
TEST(DealToOwners, DealsRecordsEvenly) {
  const auto dealt = Split(OwnersWith("[3, 0, 4]"), OwnersLines(490));
  std::size_t total = 0;
  for (const auto& owner : dealt) {
    total += owner.size();
    EXPECT_GT(owner.size(), 70U - 52U);
    EXPECT_LT(owner.size(), 70U + 52U);
  }
  EXPECT_EQ(total, 490U);
}

/// The same owners of images of two grey pixels, in folders "0" and "1".
AverageSettings OwnersOfImages(const std::string& count, const std::string& privacy = "") {
  auto job = OwnersWith(count, privacy);
  auto& data = job.schema.data;
  data.format = data::Format::kImages;
  data.columns.clear();
  data.label.column.clear();
  data.image = {.height = 1, .width = 2};
  return job;
}

// By hash an image that comes or goes is one owner's alone, as any record is.
TEST(DealToOwners, MovesNoImageWhereOneIsRemoved) {
  if (!data::ImagesAreAvailable()) GTEST_SKIP() << "built without images (TREFOIL_IMAGES)";
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> images;
  for (std::uint8_t k = 0; k < 20; ++k) {
    const auto name = std::string("train/") + (k % 3 == 0 ? "0" : "1");
    std::filesystem::create_directories(folder.path() / name);
    images.push_back(
        folder.Write(name + "/" + static_cast<char>('a' + k),
                     data::Png({.height = 1, .width = 2}, {k, static_cast<std::uint8_t>(7 * k)})));
  }
  const auto job = OwnersOfImages("[3, 0, 2]");
  const auto split = [&] {
    std::array<PartyFile, 3> parties;
    SplitTarget deal{.job_file = folder.path() / "job.toml",
                     .data = folder.path(),
                     .test = folder.path() / "test",
                     .party_folders = {folder.path() / "p0", folder.path() / "p1", folder.path() / "p2"},
                     .parties = parties};
    (void)DealToOwners(job.schema, job.owners, deal);
    OwnersRows all;
    for (const std::size_t j : {0U, 2U}) {
      parties.at(j).id = static_cast<int>(j);
      parties.at(j).data.file = deal.party_folders.at(j) / parties.at(j).data.file;
      for (auto& owner : RowsOf(LoadOwners(job.schema, job.owners, parties.at(j), "party.toml")))
        all.push_back(std::move(owner));
    }
    return all;
  };
  const auto all = split();
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t gone = 0; gone < images.size(); ++gone) {
    std::filesystem::rename(images[gone], folder.path() / "away");
    ExpectOneRecordLess(all, split(), gone);
    std::filesystem::rename(folder.path() / "away", images[gone]);
  }
}

// Their order is of all files' names and numbers: ListImages.MovesOtherFilesWhereOneIsReplacedByAnother.
TEST(LoadOwners, TakesNoOrderOfImages) {
  const auto error = [](const std::string& count, const std::string& privacy,
                        const std::vector<std::int64_t>& rows) -> std::string {
    const auto job = OwnersOfImages(count, privacy);
    PartyFile party;
    party.data.file = "no such folder";
    party.owner_rows = rows;
    try {
      (void)LoadOwners(job.schema, job.owners, party, "party.toml");
    } catch (const std::exception& found) {
      return found.what();
    }
    return "";
  };
  const std::string replaced = "neighbours = \"replaced\"\n";
  const auto refused = testing::HasSubstr("found several owners of one folder of images, expected one");
  for (const auto& privacy : {std::string(), replaced})
    EXPECT_THAT(error("[2, 0, 0]", privacy, {5, 15}), refused);
  EXPECT_THAT(error("[2, 0, 0]", replaced, {}), refused);
  EXPECT_THAT(error("[2, 0, 0]", "", {}), testing::Not(refused)) << "by hash";
  for (const auto& privacy : {std::string(), replaced})
    EXPECT_THAT(error("[1, 0, 0]", privacy, {20}), testing::Not(refused)) << "all are one owner's";
}

TEST(DealToOwners, DealsNoImagesInOrder) {
  const auto error = [](AverageSettings job, std::vector<std::int64_t> rows) -> std::string {
    job.owners.local_rows = std::move(rows);
    std::array<PartyFile, 3> parties;
    try {
      (void)DealToOwners(
          job.schema, job.owners,
          {.job_file = {}, .data = "no such folder", .test = {}, .party_folders = {}, .parties = parties});
    } catch (const std::exception& found) {
      return found.what();
    }
    return "";
  };
  const std::string replaced = "neighbours = \"replaced\"\n";
  EXPECT_THAT(error(OwnersOfImages("[2, 0, 1]"), {10, 20, 30}),
              testing::HasSubstr("local.owner_rows: found several owners of one folder of images"));
  EXPECT_THAT(error(OwnersOfImages("[2, 0, 1]", replaced), {}),
              testing::HasSubstr("owners.count: found several owners of one folder of images"));
  EXPECT_THAT(error(OwnersOfImages("[1, 1, 1]", replaced), {}),
              testing::HasSubstr("owners.count: found several owners of one folder of images"));
  EXPECT_THAT(error(OwnersOfImages("[1, 0, 0]", replaced), {}), testing::HasSubstr("no such folder: not a"));
  EXPECT_THAT(error(OwnersOfImages("[2, 0, 1]"), {}), testing::HasSubstr("no such folder: not a"));
}

TEST(DealToOwners, DealsInTheFilesOrderWhatLocalSays) {
  auto job = OwnersWith("[2, 0, 1]");
  job.owners.local_rows = {10, 20, 30};
  const auto dealt = Split(job, OwnersLines(70));
  EXPECT_EQ(dealt.at(0).size(), 10U);
  EXPECT_EQ(dealt.at(1).size(), 20U);
  EXPECT_EQ(dealt.at(2).size(), 30U);
}

}  // namespace
}  // namespace trefoil::jobs

#include "jobs/pate/pate_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

using Row = std::vector<float>;  // features, then the label

PateSettings SlicesWith(const std::string& teachers) {
  const auto text = R"(
version = 1
type = "pate"
name = "slices"
[data]
name = "slices"
format = "csv"
rows = [500, 500, 500]
classes = 3
label = { column = "y", values = ["0", "1", "2"] }
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[pate]
teachers = )" + teachers +
                    R"(
queries = 2
mechanism = "lnmax"
scale = 1.0
[teacher]
lambda = 0.1
[privacy]
delta = 1e-5
)";
  return ReadPateSettings(toml::parse(text), "slices.toml");
}

/// Writes records, a line each, and loads the slices of party 0.
class Slices {
 public:
  std::vector<std::multiset<Row>> Of(const std::vector<std::string>& lines, const std::string& teachers,
                                     std::vector<std::int64_t> owner_rows = {}) {
    std::string text = "a,b,y\n";
    for (const auto& line : lines) text += line + "\n";
    PartyFile party;
    party.data.file = folder_.Write("train.csv", text);
    party.owner_rows = std::move(owner_rows);
    std::vector<std::multiset<Row>> slices;
    for (const auto& slice : LoadSlices(SlicesWith(teachers), party, "party.toml")) {
      auto& rows = slices.emplace_back();
      for (std::size_t i = 0; i < slice.y.size(); ++i) {
        const auto row = slice.x.row(static_cast<Eigen::Index>(i));
        rows.insert({row(0), row(1), static_cast<float>(slice.y[i])});
      }
    }
    return slices;
  }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> SlicesLines(int count) {
  std::mt19937_64 generator(3);
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    lines.push_back(std::to_string(generator() % 512) + "e-3," + std::to_string(generator() % 512) + "e-3," +
                    std::to_string(generator() % 3));
  }
  return lines;
}

std::size_t Total(const std::vector<std::multiset<Row>>& slices) {
  std::size_t total = 0;
  for (const auto& slice : slices) total += slice.size();
  return total;
}

// The privacy of PATE: whichever record is taken away, wherever it stands, one teacher's slice alone changes.
TEST(LoadSlices, MovesNoRecordWhereOneIsAddedOrRemoved) {
  Slices slices;
  const auto lines = SlicesLines(120);
  const auto all = slices.Of(lines, "[7, 5, 5]");
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(Total(all), 120U);
  for (const std::size_t gone : {0U, 1U, 59U, 119U}) {
    auto fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(gone));
    const auto without = slices.Of(fewer, "[7, 5, 5]");
    int changed = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (without[k] == all[k]) continue;
      ++changed;
      EXPECT_EQ(without[k].size() + 1, all[k].size());
      EXPECT_TRUE(std::includes(all[k].begin(), all[k].end(), without[k].begin(), without[k].end()));
    }
    EXPECT_EQ(changed, 1);
  }
  auto shuffled = lines;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(4));
  EXPECT_EQ(slices.Of(shuffled, "[7, 5, 5]"), all);
}

// 490 records to 7 teachers: each slice is of 70 on average, deviation sqrt(70 * 6/7) = 7.7; beyond 6 of them
// by chance with probability below 1e-7. A label belongs to its record: records that differ in it alone do
// not all meet in one slice.
TEST(LoadSlices, DealsRecordsEvenlyByAllThatTheyAre) {
  Slices slices;
  for (const auto& slice : slices.Of(SlicesLines(490), "[7, 5, 5]")) {
    EXPECT_GT(slice.size(), 70U - 47U);
    EXPECT_LT(slice.size(), 70U + 47U);
  }
  std::vector<std::string> labelled;
  for (int i = 0; i < 30; ++i) {
    for (int label = 0; label < 3; ++label)
      labelled.push_back(std::to_string(i) + "e-3,0," + std::to_string(label));
  }
  int apart = 0;
  const auto dealt = slices.Of(labelled, "[7, 5, 5]");
  for (int i = 0; i < 30; ++i) {
    std::set<std::size_t> of;
    for (std::size_t k = 0; k < dealt.size(); ++k) {
      for (const auto& row : dealt[k]) {
        if (row[0] == std::stof(std::to_string(i) + "e-3")) of.insert(k);
      }
    }
    apart += of.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(apart, 20);  // expected 29.4
}

TEST(LoadSlices, FollowsTheOwnersWhereThePartyFileHasThem) {
  Slices slices;
  const auto lines = SlicesLines(10);
  const auto found = slices.Of(lines, "[3, 1, 1]", {6, 0, 4});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].size(), 6U);
  EXPECT_TRUE(found[1].empty());  // an owner without data: its teacher abstains
  EXPECT_EQ(found[2], slices.Of({lines.begin() + 6, lines.end()}, "[1, 1, 1]")[0]);
  EXPECT_THROW((void)slices.Of(lines, "[3, 1, 1]", {6, 5}), ConfigError);
}

// Whichever image comes or goes, all behind it would be other teachers'.
TEST(LoadSlices, TakesNoOrderOfImages) {
  auto job = SlicesWith("[3, 1, 1]");
  job.schema->data.format = data::Format::kImages;
  PartyFile party;
  party.data.file = "train";
  party.owner_rows = {2, 2, 2};
  try {
    (void)LoadSlices(job, party, "party.toml");
    FAIL() << "taken in order";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("party.toml: owners.rows: found several owners of one folder"));
  }
}

// A refusal would be seen by the others, so that the record with which there are enough would have no
// epsilon.
TEST(LoadSlices, TakesFewerRecordsThanTeachers) {
  Slices slices;
  for (const int records : {0, 1, 6, 7}) {
    const auto found = slices.Of(SlicesLines(records), "[7, 1, 1]");
    EXPECT_EQ(found.size(), 7U);
    EXPECT_EQ(Total(found), static_cast<std::size_t>(records));
  }
}

TEST(LoadSlices, RefusesFilesThatTheJobDoesNotHave) {
  PartyFile party;
  EXPECT_THROW((void)LoadSlices(SlicesWith("[1, 1, 1]"), party, "party.toml"), ConfigError);
  party.inputs["pate.predictions"] = "predictions.npy";
  EXPECT_THROW((void)LoadSlices(SlicesWith("[1, 1, 1]"), party, "party.toml"), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs

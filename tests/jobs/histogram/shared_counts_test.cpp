#include "jobs/histogram/shared_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ErrorText;

class SharedCountsTest : public testing::Test {
 protected:
  data::DataFiles Table(const std::vector<std::string>& texts) {
    std::vector<std::filesystem::path> paths;
    for (const auto& text : texts)
      paths.push_back(folder_.Write("t" + std::to_string(paths.size()) + ".csv", text));
    data::DataFiles files;
    files.SetTable(paths);
    return files;
  }
  [[nodiscard]] std::vector<OwnRecordValues> LoadBy(int count, const data::DataFiles& files) const {
    std::vector<OwnRecordValues> own(static_cast<std::size_t>(count));
    testing_support::RunRanks(count, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() == 0)
        own.at(static_cast<std::size_t>(ranks.rank())) = LoadSharedValues(files, column_, kDeclared, ranks);
    });
    return own;
  }
  [[nodiscard]] std::string ErrorOfRank(int rank, const data::DataFiles& files) const {
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() == 0) (void)LoadSharedValues(files, column_, kDeclared, ranks);
    });
    const auto& end = ends.at(static_cast<std::size_t>(rank))[0];
    return ErrorText<DataError>([&] {
      if (end) std::rethrow_exception(end);
    });
  }

  static constexpr std::int64_t kDeclared = 10;
  const TemporaryFolder folder_;
  const data::CategoryColumn column_{.header = true, .columns = {}, .column = "y", .values = {"a", "b"}};
};

TEST_F(SharedCountsTest, EachRecordIsReadOnceAndAbsentOnesAreShared) {
  const auto files = Table({"y,z\na,1\nb,1\n", "y,z\na,2\n", "y,z\n?,3\nb,4\na,5\n"});
  const auto one = LoadValues(files, column_, kDeclared);
  EXPECT_EQ(one.of_party.records, 6);
  EXPECT_THAT(one.of_party.of_values, ElementsAre(3, 2));
  EXPECT_EQ(one.absent, 4U);
  for (const int count : {2, 3, 4}) {
    std::array<int, 3> found{};
    std::size_t absent = 0;
    for (const auto& own : LoadBy(count, files)) {
      for (const auto& value : own.records) ++found.at(value.value_or(2));
      absent += own.absent;
      EXPECT_EQ(own.of_party.records, 6);
      EXPECT_THAT(own.of_party.of_values, ElementsAre(3, 2));
    }
    EXPECT_THAT(found, ElementsAre(3, 2, 1));
    EXPECT_EQ(absent, 4U);
  }
  const auto two = LoadBy(2, files);
  EXPECT_EQ(two[0].records.size(), 5U);
  EXPECT_EQ(two[1].records.size(), 1U);
}

TEST_F(SharedCountsTest, RefusesWhatOneMachineRefuses) {
  EXPECT_EQ(ErrorOfRank(1, Table({"y\na\n", "y\nb\n"})), "");
  EXPECT_THAT(ErrorOfRank(1, Table({"y\na\n", "z,y\n1,b\n"})),
              HasSubstr("t1.csv: row 1: found another header, expected that of"));
  EXPECT_THAT(ErrorOfRank(0, Table({"y\na\na\na\na\na\n", "y\nb\nb\nb\nb\nb\nb\n"})),
              HasSubstr("found 11 records, expected at most the 10 that the job declares"));
  EXPECT_THAT(ErrorOfRank(1, Table({"y\na\n", "y\nb,c\n"})), HasSubstr("t1.csv: row 2: found 2 fields"));
}

TEST(RequireNoQuery, RefusesAQuery) {
  data::DataFiles files = data::OneFile("records.db");
  RequireNoQuery(files, "party.toml");
  files.query = "SELECT y FROM t";
  EXPECT_THROW(RequireNoQuery(files, "party.toml"), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs

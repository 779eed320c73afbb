#include "jobs/histogram/shared_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>

#include "base/error.h"
#include "data/formats/file.h"
#include "data/formats/positioned_file.h"
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
  [[nodiscard]] std::vector<OwnValueCounts> LoadBy(int count, const data::DataFiles& files) const {
    std::vector<OwnValueCounts> own(static_cast<std::size_t>(count));
    testing_support::RunRanks(count, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() == 0)
        own.at(static_cast<std::size_t>(ranks.rank())) =
            LoadSharedValues(files, column_, kDeclared, by_, ranks, sample_);
    });
    return own;
  }
  [[nodiscard]] std::string ErrorOfRank(int rank, const data::DataFiles& files) const {
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() == 0) (void)LoadSharedValues(files, column_, kDeclared, by_, ranks, sample_);
    });
    const auto& end = ends.at(static_cast<std::size_t>(rank))[0];
    return ErrorText<DataError>([&] {
      if (end) std::rethrow_exception(end);
    });
  }

  static constexpr std::int64_t kDeclared = 10;
  CompareBy by_ = CompareBy::kSample;
  FileDigest sample_ = data::SampleSha256;
  const TemporaryFolder folder_;
  const data::CategoryColumn column_{.header = true, .columns = {}, .column = "y", .values = {"a", "b"}};
};

TEST_F(SharedCountsTest, EachRecordIsReadOnceAndAbsentOnesAreShared) {
  const auto files = Table({"y,z\na,1\nb,1\n", "y,z\na,2\n", "y,z\n?,3\nb,4\na,5\n"});
  const auto one = LoadValues(files, column_, kDeclared);
  EXPECT_EQ(one.of_party.records, 6);
  EXPECT_THAT(one.of_party.of_values, ElementsAre(3, 2));
  EXPECT_EQ(one.own.records, 6);
  EXPECT_EQ(one.absent, 4);
  for (const int count : {2, 3, 4}) {
    std::array<std::int64_t, 3> found{};
    std::int64_t absent = 0;
    for (const auto& rank : LoadBy(count, files)) {
      found[0] += rank.own.of_values.at(0);
      found[1] += rank.own.of_values.at(1);
      found[2] += rank.own.records;
      absent += rank.absent;
      EXPECT_EQ(rank.of_party.records, 6);
      EXPECT_THAT(rank.of_party.of_values, ElementsAre(3, 2));
    }
    EXPECT_THAT(found, ElementsAre(3, 2, 6));
    EXPECT_EQ(absent, 4);
  }
  by_ = CompareBy::kWhole;
  const auto two = LoadBy(2, files);
  EXPECT_EQ(two[0].own.records, 5);
  EXPECT_EQ(two[1].own.records, 1);
}

/// So nobody can tell by the time that a rank takes how many records it has.
TEST_F(SharedCountsTest, RanksReportForAsManyRecordsEach) {
  const auto reports = [&](int count, const std::vector<std::string>& texts) {
    std::vector<std::int64_t> of_ranks;
    for (const auto& rank : LoadBy(count, Table(texts))) of_ranks.push_back(rank.own.records + rank.absent);
    return of_ranks;
  };
  EXPECT_THAT(reports(2, {"y\na\nb\na\n"}), ElementsAre(5, 5));
  EXPECT_THAT(reports(2, {"y\na\n", "y\na\nb\n?\na\nb\n"}), ElementsAre(5, 5));
  EXPECT_THAT(reports(3, {"y\n", "y\na\n", "y\nb\nb\n"}), ElementsAre(4, 3, 3));
  EXPECT_THAT(reports(2, {"y\na\na\na\na\na\na\na\n", "y\n"}), ElementsAre(7, 3));  // one has more
  EXPECT_THAT(reports(2, {"y\n", "y\na\na\na\na\na\na\na\n"}), ElementsAre(3, 7));
}

/// That a copy differs between the pieces of a sample is found where whole files are compared.
TEST_F(SharedCountsTest, CountTheFilesOfRank0) {
  std::string text = "y\n";
  for (int k = 0; k < 400'000; ++k) text += "a\n";
  auto other = text;
  other[7002] = 'b';
  const auto of_rank_0 = Table({"y\na\n", text});
  const auto copies = folder_.path() / "copies";
  std::filesystem::create_directory(copies);
  std::filesystem::copy(folder_.path() / "t0.csv", copies);
  folder_.Write("copies/t1.csv", other);
  data::DataFiles of_rank_1;
  of_rank_1.SetTable({copies / "t0.csv", copies / "t1.csv"});
  const auto found_by = [&](CompareBy by) {
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (party.self() == 0)
        (void)LoadSharedValues(ranks.rank() == 0 ? of_rank_0 : of_rank_1, column_, 500'000, by, ranks);
    });
    return ErrorText<DataError>([&] {
      if (ends.at(1)[0]) std::rethrow_exception(ends.at(1)[0]);
    });
  };
  EXPECT_EQ(found_by(CompareBy::kSample), "");
  EXPECT_THAT(found_by(CompareBy::kWhole), HasSubstr("copies/t1.csv: found another file than rank 0's"));
}

/// A file that is replaced while it is read.
TEST_F(SharedCountsTest, RefuseAFileThatChangesMeanwhile) {
  static std::atomic<int> calls;
  calls = 0;
  // Of rank 1: before it reads, and after.
  sample_ = [](const std::filesystem::path& file) {
    return std::string(64, file.filename() == "t1.csv" && ++calls == 3 ? 'b' : 'a');
  };
  EXPECT_THAT(ErrorOfRank(1, Table({"y\na\n", "y\nb\n"})),
              HasSubstr("t1.csv: found another file than rank 0's"));
}

/// What was counted is compared, not what is there then: both ranks see the file that comes in its place.
TEST_F(SharedCountsTest, RefuseAFileThatIsReplacedOnceItIsCounted) {
  static std::atomic<int> calls;
  calls = 0;
  sample_ = [](const std::filesystem::path& file) {
    // Rank 0's, then rank 1's before it reads, and after.
    if (file.filename() == "t1.csv" && ++calls == 3) std::ofstream(file) << "y\na\n";
    return std::string(64, 'a');
  };
  by_ = CompareBy::kWhole;
  EXPECT_THAT(ErrorOfRank(1, Table({"y\na\n", "y\nb\n"})),
              HasSubstr("t1.csv: found another file than rank 0's"));
}

TEST_F(SharedCountsTest, RefuseALedgerThatRank0HasNot) {
  const auto files = Table({"y\na\n", "y\nb\n"});
  for (const int rank : {0, 1}) {  // which has one
    const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      const auto by = ranks.rank() == rank ? CompareBy::kWhole : CompareBy::kSample;
      if (party.self() == 0) (void)LoadSharedValues(files, column_, kDeclared, by, ranks);
    });
    EXPECT_EQ(ErrorText<ConfigError>([&] {
                if (ends[1][0]) std::rethrow_exception(ends[1][0]);
              }),
              rank == 1 ? "[ledger]: found one, expected none, as in rank 0's party file"
                        : "[ledger]: found none, expected one, as in rank 0's party file");
  }
}

TEST_F(SharedCountsTest, RefusesWhatOneMachineRefuses) {
  EXPECT_THAT(ErrorText<DataError>([&] { (void)LoadValues(Table({"y\na\nb\n"}), column_, 1); }),
              HasSubstr("found 2 records, expected at most the 1 that the job declares"));
  EXPECT_EQ(ErrorOfRank(1, Table({"y\na\n", "y\nb\n"})), "");
  const auto first = (folder_.path() / "t0.csv").string();
  EXPECT_THAT(ErrorOfRank(1, Table({"y,x\na,1\n", "y,z\nb,1\n"})),
              HasSubstr("t1.csv: row 1, column 2: found \"z\", expected \"x\", as in " + first));
  EXPECT_THAT(ErrorOfRank(0, Table({"y,x\na,1\n", "y,x\nb,1\n", "y\nb\n"})),
              HasSubstr("t2.csv: row 1: found 1 columns, expected the 2 of " + first));
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

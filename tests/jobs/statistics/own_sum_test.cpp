#include "jobs/statistics/own_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/statistics/statistics_job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;

OwnStatistics SumOf(const StatisticsSettings& job, const std::string& text,
                    std::optional<std::int64_t> capacity = {}) {
  const TemporaryFolder folder;
  return SumStatistics(job, LayoutOf(job), data::OneFile(folder.Write("t.csv", text)), capacity);
}

std::string DataErrorOf(const StatisticsSettings& job, const std::string& text) {
  return ErrorText<DataError>([&] { (void)SumOf(job, text, 2); });
}

constexpr const char* kHead = "c,b,skipped,a\n";

TEST(SumStatistics, AddsRecordsAsTheyAreReadAndMovesNumbersIntoTheirRange) {
  const auto job = StatisticsWith();
  const auto layout = LayoutOf(job);
  const auto own = SumOf(job, std::string(kHead) + "x,1,?,5\n?,?,,-12\nz,1e30,word,10\n");
  EXPECT_EQ(own.rows, 3);
  EXPECT_EQ(own.beyond, 2);  // -12 and 1e30
  const auto at = [&](mpc::Index place) {
    return std::ldexp(static_cast<double>(mpc::Signed(own.sum(place, 0))), -kStatisticsBits) * std::sqrt(8.0);
  };
  constexpr double kNear = 1e-6;
  EXPECT_NEAR(at(0), 3, kNear);
  EXPECT_NEAR(at(1), 0.5 - 1 + 1, kNear);
  EXPECT_NEAR(at(2), 0.75 + 0 + 0, kNear);
  EXPECT_NEAR(at(3), -0.5 + 1, kNear);
  EXPECT_NEAR(at(5), 1, kNear);       // b is missing once
  EXPECT_NEAR(at(6 + 49), 1, kNear);  // 10 is in the last bin
  EXPECT_NEAR(at(106), 0.5 * -0.5 + 1 * 1, kNear);
  EXPECT_NEAR(at(107), 1, kNear);
  EXPECT_NEAR(at(108 + 2 * 4 + 0), 1, kNear);  // a = 5 with x
  EXPECT_NEAR(at(108 + 0 * 4 + 3), 1, kNear);  // a = -10 without c
  EXPECT_NEAR(at(120 + 2), 1, kNear);
}

TEST(SumStatistics, ReadsFilesWithoutAHeaderInTheColumnsOrder) {
  const auto job = StatisticsWith({"data.header=false"});
  EXPECT_EQ(SumOf(job, "1,2,?,x\n").rows, 1);
  EXPECT_THAT(DataErrorOf(job, "1,2,?,x,more\n"), HasSubstr("found 5 fields, expected 4"));
  EXPECT_THAT(DataErrorOf(job, "1,2,x\n"), HasSubstr("found 3 fields"));
}

TEST(SumStatistics, RefusesWhatIsNoRecordOfTheJob) {
  const auto job = StatisticsWith();
  const std::string head = kHead;
  EXPECT_THAT(DataErrorOf(job, head + "w,1,,1\n"), HasSubstr("row 2, column \"c\": found \"w\""));
  EXPECT_THAT(DataErrorOf(job, head + "x,much,,1\n"), HasSubstr("found \"much\", expected a number"));
  EXPECT_THAT(DataErrorOf(job, head + "x,1,,?\n"), HasSubstr("column \"a\": found \"?\""));
  EXPECT_THAT(DataErrorOf(job, head + "x,1,,1\nx,1,,1\nx,1,,1\n"), HasSubstr("at most"));
  EXPECT_THAT(DataErrorOf(job, "b,a,c\n1,1,x\n"), HasSubstr("no column \"skipped\""));
}

}  // namespace
}  // namespace trefoil::jobs

#include "jobs/statistics/own_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "ml/records.h"
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

/// At the ends of the ranges, in their middle, where a square is lost, and anywhere.
std::string SearchedRows(int count) {
  std::mt19937_64 random(5);
  std::string text = kHead;
  for (int k = 0; k < count; ++k) {
    const auto number = [&](double low, double high) {
      const double middle = (low + high) / 2;
      switch (random() % 4) {
        case 0:
          return random() % 2 == 0 ? low : high;
        case 1:
          return middle;
        case 2:
          return middle + (high - low) * std::ldexp(1.0, -static_cast<int>(random() % 26) - 1);
        default:
          return low + (high - low) * std::ldexp(static_cast<double>(random() >> 11), -53);
      }
    };
    const auto b = random() % 9 == 0 ? std::string("?") : fmt::format("{}", number(0, 4));
    text += fmt::format("{},{},,{}\n", std::string(1, "xyz?"[random() % 4]), b, number(-10, 10));
  }
  return text;
}

TEST(RowsOfStatistics, AreDepositedAsTheyAreAndCountExactly) {
  // Of the last one all factors are a half, of which roundings would leave nothing.
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {},
           {"statistics.weights.moments=900.0"},
           {"statistics.bins=4096", "statistics.weights.count=7.0"},
           {"statistics.moments=[\"a\"]", "statistics.quantiles=[\"a\"]", "statistics.correlations=[]",
            "statistics.table=[{ rows = \"c\" }]"}}) {
    const auto job = StatisticsWith(settings);
    const auto layout = DepositedLayoutOf(job);
    const TemporaryFolder folder;
    const auto made = RowsOfStatistics(job, layout, data::OneFile(folder.Write("t.csv", SearchedRows(4000))));
    ASSERT_EQ(made.rows.rows(), 4000);
    const auto largest = ml::LargestSquaredNorm(1, layout.bits);
    std::vector<mpc::Word> words(static_cast<std::size_t>(layout.size));
    double longest = 0;
    for (mpc::Index row = 0; row < made.rows.rows(); ++row) {
      const auto squared = ml::EncodeFeatures(made.rows.row(row).cast<double>(), row, 1, layout.bits, words);
      ASSERT_LE(squared, largest);
      longest = std::max(longest, static_cast<double>(squared) / static_cast<double>(largest));
      for (mpc::Index k = 0; k < layout.size; ++k)
        ASSERT_EQ(static_cast<double>(mpc::Signed(words[static_cast<std::size_t>(k)])),
                  std::ldexp(static_cast<double>(made.rows(row, k)), layout.bits));
      ASSERT_EQ(static_cast<double>(made.rows(row, 0)), layout.FactorOf(Statistic::kCount));
    }
    EXPECT_GT(longest, 0.99);  // else the search says nothing
  }
}

TEST(RowsOfStatistics, AreThoseOfTheSumButForTheirLattice) {
  const auto job = StatisticsWith();
  const auto plain = LayoutOf(job);
  const auto layout = DepositedLayoutOf(job);
  const TemporaryFolder folder;
  const auto file = data::OneFile(folder.Write("t.csv", SearchedRows(50)));
  const auto own = SumStatistics(job, plain, file);
  const auto rows = RowsOfStatistics(job, layout, file);
  EXPECT_LT(layout.bits, plain.bits);
  for (mpc::Index k = 0; k < layout.size; ++k) {
    const double found = rows.rows.col(k).cast<double>().sum();
    const double expected = std::ldexp(static_cast<double>(mpc::Signed(own.sum(k, 0))), -plain.bits);
    EXPECT_NEAR(found, expected, 50 * 3 * std::ldexp(1.0, -layout.bits)) << k;
  }
  EXPECT_EQ(rows.warnings, own.warnings);
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

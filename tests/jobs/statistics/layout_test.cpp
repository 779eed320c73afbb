#include "jobs/statistics/layout.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "jobs/statistics/own_sum.h"
#include "ml/noise/noisy_sum.h"
#include "tests/jobs/statistics/statistics_job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

/// A record of these numbers, from -1 to 1 (beyond: missing, where the column has a third number), and this
/// category.
std::vector<StatisticsCell> Record(const StatisticsLayout& layout, const std::vector<double>& centred,
                                   std::size_t value) {
  std::vector<StatisticsCell> cells(layout.numbers.size());
  for (const auto& laid : layout.moments) {
    const double z = centred[laid.column % centred.size()];
    auto& cell = cells[laid.column];
    cell.missing = std::abs(z) > 1 && laid.may_miss;
    cell.scaled = layout.numbers[laid.column].range * static_cast<float>((std::clamp(z, -1.0, 1.0) + 1) / 2);
  }
  cells.back() = {.missing = value == 3, .value = value};
  return cells;
}

std::vector<StatisticsEntry> EntriesOf(const StatisticsLayout& layout,
                                       const std::vector<StatisticsCell>& cells) {
  std::vector<StatisticsEntry> entries;
  VectorOf(layout, cells, entries);
  return entries;
}

/// Of the bound, squared: what a record adds in integers, which must not be more than 1.
double ShareOfBound(const StatisticsLayout& layout, const std::vector<StatisticsCell>& cells) {
  std::vector<double> values;
  std::set<mpc::Index> places;
  for (const auto& entry : EntriesOf(layout, cells)) {
    values.push_back(entry.value);
    EXPECT_TRUE(places.insert(entry.place).second && entry.place >= 0 && entry.place < layout.size);
  }
  std::vector<std::int64_t> whole(values.size());
  ml::EncodeBounded(values, kStatisticsBits, kStatisticsNorm, whole);
  std::int64_t squares = 0;  // of 2^60
  for (std::size_t k = 0; k < whole.size(); ++k) {
    squares += whole[k] * whole[k];
    // Nothing is shortened that was within the bound, so that sums are what they are taken for.
    EXPECT_NEAR(static_cast<double>(whole[k]), std::ldexp(values[k], kStatisticsBits), 1.001);
  }
  EXPECT_LE(squares, std::int64_t{1} << (2 * kStatisticsBits));
  return std::ldexp(static_cast<double>(squares), -2 * kStatisticsBits);
}

/// Searched: numbers at the ends, in the middle and where 1 - z^2 + z^4 is least, missing ones, and any.
TEST(StatisticsVector, ReachesTheNormOfOneAndNeverExceedsIt) {
  const std::vector<std::vector<std::string>> jobs{
      {},
      {"statistics.weights.correlations=900.0"},
      {"statistics.weights.count=0.01", "statistics.weights.moments=7.0", "statistics.weights.tables=0.3"},
      {"statistics.correlations=[]", "statistics.table=[]", "statistics.quantiles=[]"},
      {"statistics.moments=[]", "statistics.correlations=[]"},
      {"statistics.bins=2", "statistics.quantiles=[\"b\"]"}};
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1.1, 1.1);
  for (const auto& assignments : jobs) {
    const auto layout = LayoutOf(StatisticsWith(assignments));
    double most = 0;
    for (const double one : {-2.0, -1.0, -std::sqrt(0.5), 0.0, 1e-12, std::sqrt(0.5), 1.0}) {
      for (const double other : {-2.0, -1.0, 0.0, 0.3, 1.0}) {
        for (std::size_t value = 0; value < 4; ++value)
          most = std::max(most, ShareOfBound(layout, Record(layout, {one, other}, value)));
      }
    }
    for (int k = 0; k < 2000; ++k)
      most = std::max(most, ShareOfBound(layout, Record(layout, {any(random), any(random)}, random() % 4)));
    EXPECT_GT(most, 1 - 1e-7);
  }
}

TEST(StatisticsVector, HasEachStatisticsNumbersInTheirPlaces) {
  const auto layout = LayoutOf(StatisticsWith());
  // 1, a: 2, b: 3, bins: 100, product and absence: 2, (3 values) x (3 and missing): 12, 4.
  ASSERT_EQ(layout.size, 1 + 2 + 3 + 100 + 2 + 12 + 4);
  // Nothing weighs more: count 1, moments 2, bins 2, a pair, two tables.
  const double factor = 1 / std::sqrt(8.0);
  for (const auto statistic : kStatistics) EXPECT_NEAR(layout.FactorOf(statistic), factor, 1e-15);
  const auto entries = EntriesOf(layout, Record(layout, {-0.5, 0.5}, 2));
  const std::vector<std::pair<mpc::Index, double>> wanted{{0, 1},       {1, -0.5},    {2, 0.75},
                                                          {3, 0.5},     {4, 0.75},    {6 + 12, 1},
                                                          {56 + 37, 1}, {106, -0.25}, {108 + 0 * 4 + 2, 1},
                                                          {120 + 2, 1}};
  ASSERT_EQ(entries.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_EQ(entries[k].place, wanted[k].first);
    EXPECT_NEAR(entries[k].value, wanted[k].second * factor, 1e-7);
  }
}

TEST(StatisticsVector, OfMissingValuesHasOnesInTheirOwnPlaces) {
  const auto layout = LayoutOf(StatisticsWith());
  auto cells = Record(layout, {0.0, 0.0}, 3);
  cells[1].missing = true;
  std::vector<mpc::Index> places;
  for (const auto& entry : EntriesOf(layout, cells)) places.push_back(entry.place);
  // No bin of b; the product's absence; the last value of c in both tables.
  EXPECT_EQ(places, (std::vector<mpc::Index>{0, 1, 2, 5, 6 + 25, 107, 108 + 4 + 3, 120 + 3}));
}

TEST(StatisticsLayout, SharesTheBudgetByWeights) {
  const auto layout = LayoutOf(StatisticsWith({"statistics.weights.quantiles=4.0"}));
  EXPECT_NEAR(layout.FactorOf(Statistic::kQuantiles) / layout.FactorOf(Statistic::kMoments), 2, 1e-12);
  EXPECT_NEAR(std::pow(layout.FactorOf(Statistic::kMoments), -2), 1 + 2 + 4 * 2 + 1 + 2, 1e-9);
}

/// Numbers as a file has them, in steps of a bin: whole ones, and decimals, which no float has exactly.
TEST(StatisticsLayout, PutsNumbersOnTheBorderOfTwoBinsIntoTheUpperOne) {
  struct Range {
    int low, high, bins;
  };
  for (const auto& [low, high, bins] :
       {Range{17, 90, 73}, Range{35, 42, 70}, Range{0, 1, 10}, Range{-2, 3, 50}, Range{150, 200, 500}}) {
    const auto job =
        StatisticsWith({fmt::format("data.column=[{{ name = \"x\", low = {}, high = {} }}]", low, high),
                        fmt::format("statistics.bins={}", bins), "statistics.correlations=[]",
                        "statistics.table=[]", "statistics.moments=[]"});
    const auto layout = LayoutOf(job);
    const auto spec = RecordsOf(job);
    for (int k = 0; k <= bins; ++k) {
      const auto text = fmt::format("{:.1f}", low + static_cast<double>((high - low) * k) / bins);
      std::array<float, 2> read{};
      ASSERT_FALSE(data::ColumnEncoder(spec.columns[0], spec).Encode(text, read.data()));
      const auto entries = EntriesOf(layout, {{.scaled = read[0]}});
      ASSERT_EQ(entries.size(), 1U);
      EXPECT_EQ(entries[0].place, std::min(k, bins - 1)) << text << " of " << low << " to " << high;
    }
  }
}

TEST(StatisticsLayout, NamesTheValuesOfTables) {
  const auto layout = LayoutOf(StatisticsWith());
  EXPECT_EQ(layout.tables[0].row_values,
            (std::vector<std::string>{"below -2", "-2 to below 3.5", "3.5 and above"}));
  EXPECT_EQ(layout.tables[0].column_values, (std::vector<std::string>{"x", "y", "z", "(missing)"}));
}

TEST(StatisticsLayout, RefusesMoreThanAMillionNumbers) {
  std::string columns;
  for (int k = 0; k < 300; ++k) columns += fmt::format("{{ name = \"n{}\", low = 0, high = 1 }}, ", k);
  const auto job = StatisticsWith({"data.column=[" + columns + "]", "statistics.bins=4096",
                                   "statistics.correlations=[]", "statistics.table=[]"});
  EXPECT_EQ(testing_support::ErrorText<ConfigError>([&] { (void)LayoutOf(job); }),
            "statistics: found more than 1000000 numbers to release, expected fewer bins, tables or columns");
}

}  // namespace
}  // namespace trefoil::jobs

#include "ml/public_sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/fixed_key.h"

namespace trefoil::ml {
namespace {

using testing_support::FixedKey;

TEST(PublicSchedule, IsTheSameForTheSameSeed) {
  const PublicSchedule a(FixedKey(1), 100, 0.2, 20);
  const PublicSchedule b(FixedKey(1), 100, 0.2, 20);
  for (int step = 0; step < 20; ++step) EXPECT_EQ(a.RowsOf(step), b.RowsOf(step));
}

TEST(PublicSchedule, PadsBatchesToAFewHeights) {
  const PublicSchedule schedule(FixedKey(1), 3000, 0.1, 400);
  EXPECT_EQ(PublicHeightUnit(300), 9);
  std::set<std::int64_t> heights;
  for (int step = 0; step < 400; ++step) {
    const auto taken = static_cast<std::int64_t>(schedule.RowsOf(step).size());
    const std::int64_t height = schedule.HeightOf(step);
    EXPECT_EQ(height % 9, 0);
    EXPECT_GE(height, taken);
    EXPECT_LT(height, taken + 9);
    heights.insert(height);
  }
  // Six deviations of 16.4 either way are 22 heights: more have a probability below 10^-6.
  EXPECT_LE(heights.size(), 23U);
  EXPECT_GE(heights.size(), 3U);
}

TEST(PublicSchedule, PadsToNoMoreThanAllRows) {
  const PublicSchedule schedule(FixedKey(1), 100, 1, 2);
  EXPECT_EQ(PublicHeightUnit(100), 3);
  EXPECT_EQ(schedule.HeightOf(1), 100);
  EXPECT_EQ(PublicHeightUnit(0.01), 1);
  const PublicSchedule empty(FixedKey(1), 100, 1e-12, 1);
  EXPECT_EQ(empty.HeightOf(0), 0);
}

TEST(PublicSchedule, CountsTheLargestParticipation) {
  const PublicSchedule schedule(FixedKey(2), 50, 0.3, 40);
  std::vector<std::int64_t> taken(50, 0);
  EXPECT_EQ(schedule.MaxParticipation(0), 0);
  for (int step = 0; step < 40; ++step) {
    for (const std::int64_t row : schedule.RowsOf(step)) ++taken[static_cast<std::size_t>(row)];
    EXPECT_EQ(schedule.MaxParticipation(step + 1), *std::max_element(taken.begin(), taken.end()));
  }
}

TEST(PublicSchedule, CountsTheLargestParticipationOverStepsThatAreDoneAgain) {
  const PublicSchedule schedule(FixedKey(2), 50, 0.3, 40);
  const auto after = schedule.MaxParticipationAfter({{0, 25}, {20, 31}}, 30);
  ASSERT_EQ(after.size(), 11U);
  std::vector<std::int64_t> taken(50, 0);
  const auto execute = [&](int step) {
    for (const std::int64_t row : schedule.RowsOf(step)) ++taken[static_cast<std::size_t>(row)];
  };
  for (int step = 0; step < 25; ++step) execute(step);
  for (int step = 20; step < 31; ++step) execute(step);
  for (int step = 30; step < 40; ++step) {
    EXPECT_EQ(after[static_cast<std::size_t>(step - 30)], *std::max_element(taken.begin(), taken.end()));
    execute(step);
  }
  EXPECT_EQ(after.back(), *std::max_element(taken.begin(), taken.end()));
  EXPECT_GT(after.back(), schedule.MaxParticipation(40));
}

TEST(PublicSchedule, TakesEachRowAtTheRate) {
  constexpr int kSteps = 500;
  const PublicSchedule schedule(FixedKey(3), 1000, 0.07, kSteps);
  double total = 0;
  for (int step = 0; step < kSteps; ++step) total += static_cast<double>(schedule.RowsOf(step).size());
  // Five standard deviations of a binomial of 500,000 coins: a right build fails for one key in 1.7 million.
  EXPECT_NEAR(total, 500000 * 0.07, 5 * std::sqrt(500000 * 0.07 * 0.93));
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/public_sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/fixed_key.h"

namespace trefoil::ml {
namespace {

using testing_support::FixedKey;

TEST(PublicSchedule, IsTheSameForTheSameSeed) {
  const PublicSchedule a(FixedKey(1), 100, 0.2, 20);
  const PublicSchedule b(FixedKey(1), 100, 0.2, 20);
  for (int step = 0; step < 20; ++step) EXPECT_EQ(a.RowsOf(step), b.RowsOf(step));
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

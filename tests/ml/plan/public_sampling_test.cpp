#include "ml/plan/public_sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/support/fixed_key.h"

namespace trefoil::ml {
namespace {

using testing_support::FixedKey;

TEST(PublicSchedule, IsTheSameForTheSameSeed) {
  const PublicSchedule a(FixedKey(1), 100, 0.2, 20);
  const PublicSchedule b(FixedKey(1), 100, 0.2, 20);
  for (int step = 0; step < 20; ++step) EXPECT_EQ(a.RowsOf(step), b.RowsOf(step));
}

/// P[Bin(trials, rate) > most], term by term.
double Beyond(int trials, double rate, std::int64_t most) {
  double sum = 0;
  for (int k = static_cast<int>(most) + 1; k <= trials; ++k)
    sum += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                    k * std::log(rate) + (trials - k) * std::log1p(-rate));
  return sum;
}

TEST(PublicBounds, AreTheSmallestThatASixthOfTheDrawsExceeds) {
  constexpr int kRows = 3000;
  constexpr int kSteps = 400;
  const std::int64_t height = PublicHeight(kRows, 0.1, kSteps);
  EXPECT_LE(kSteps * Beyond(kRows, 0.1, height), 1.0 / 6);
  EXPECT_GT(kSteps * Beyond(kRows, 0.1, height - 1), 1.0 / 6);
  const std::int64_t all = MaxParticipation(kRows, 0.1, kSteps);
  EXPECT_LE(kRows * Beyond(kSteps, 0.1, all), 1.0 / 6);
  EXPECT_GT(kRows * Beyond(kSteps, 0.1, all - 1), 1.0 / 6);
  const auto bounds = ParticipationBounds(kRows, 0.1, kSteps);
  ASSERT_EQ(bounds.size(), kSteps + 1U);
  EXPECT_EQ(bounds[0], 0);
  EXPECT_EQ(bounds[kSteps], all);
  for (int step = 1; step < kSteps; ++step) {
    const std::int64_t bound = bounds[static_cast<std::size_t>(step)];
    EXPECT_GE(bound, bounds[static_cast<std::size_t>(step) - 1]);
    if (bound == all) continue;
    EXPECT_LE(1.0 * kSteps * kRows * Beyond(step, 0.1, bound), 1.0 / 6) << step;
    if (static_cast<double>(bound) > step * 0.1 + 1) {
      EXPECT_GT(1.0 * kSteps * kRows * Beyond(step, 0.1, bound - 1), 1.0 / 6) << step;
    }
  }
}

TEST(PublicBounds, AreAllRowsAndAllStepsWhereNothingIsLeftOut) {
  EXPECT_EQ(PublicHeight(100, 1, 2), 100);
  EXPECT_EQ(ParticipationBounds(100, 1, 4), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(PublicHeight(100, 1e-12, 1), 1);
  EXPECT_EQ(MaxParticipation(100, 1e-12, 1), 1);
}

TEST(PublicSchedule, DrawsNothingBeyondTheBounds) {
  constexpr int kSteps = 40;
  const std::int64_t height = PublicHeight(50, 0.3, kSteps);
  const auto bounds = ParticipationBounds(50, 0.3, kSteps);
  for (std::uint8_t seed = 0; seed < 100; ++seed) {
    const PublicSchedule schedule(FixedKey(seed), 50, 0.3, kSteps);
    std::vector<std::int64_t> taken(50, 0);
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_LE(static_cast<std::int64_t>(schedule.RowsOf(step).size()), height);
      for (const std::int64_t row : schedule.RowsOf(step)) ++taken[static_cast<std::size_t>(row)];
      EXPECT_LE(*std::max_element(taken.begin(), taken.end()), bounds[static_cast<std::size_t>(step) + 1]);
    }
  }
}

TEST(ParticipationAfter, CountsStepsThatAreDoneAgainForEveryRow) {
  const PublicSchedule schedule(FixedKey(2), 50, 0.3, 40);
  const auto bounds = ParticipationBounds(50, 0.3, 40);
  EXPECT_EQ(ParticipationAfter(bounds, {}, 0), bounds);
  const auto after = ParticipationAfter(bounds, {{0, 25}, {20, 31}}, 30);
  ASSERT_EQ(after.size(), 11U);
  std::vector<std::int64_t> taken(50, 0);
  const auto execute = [&](int step) {
    for (const std::int64_t row : schedule.RowsOf(step)) ++taken[static_cast<std::size_t>(row)];
  };
  for (int step = 0; step < 25; ++step) execute(step);
  for (int step = 20; step < 31; ++step) execute(step);
  for (int step = 30; step < 40; ++step) {
    EXPECT_GE(after[static_cast<std::size_t>(step - 30)], *std::max_element(taken.begin(), taken.end()));
    execute(step);
  }
  EXPECT_GE(after.back(), *std::max_element(taken.begin(), taken.end()));
  // Steps 20 to 24, then 30, too, twice.
  EXPECT_EQ(after.front(), bounds[31] + 5);
  EXPECT_EQ(after.back(), bounds[40] + 6);
}

// What the outsider's epsilon rests on: whatever is known of other rows' coins and of a row's own earlier
// ones, a step takes it with the rate at most. All coins of three rows in four steps are enumerated.
TEST(PublicSchedule, TakesNoRowWithMoreThanTheRateWhateverIsKnown) {
  constexpr int kRows = 3;
  constexpr int kSteps = 4;
  constexpr double kRate = 0.3;
  const auto bounds = ParticipationBounds(kRows, kRate, kSteps);
  const std::int64_t height = PublicHeight(kRows, kRate, kSteps);
  const auto bit = [](unsigned coins, int row, int step) { return coins >> (row * kSteps + step) & 1U; };
  const auto drawn = [&](unsigned coins) {
    for (int step = 0; step < kSteps; ++step) {
      std::int64_t rows = 0;
      for (int row = 0; row < kRows; ++row) rows += bit(coins, row, step);
      if (rows > height) return false;
    }
    for (int row = 0; row < kRows; ++row) {
      std::int64_t taken = 0;
      for (int step = 0; step < kSteps; ++step) {
        taken += bit(coins, row, step);
        if (taken > bounds[static_cast<std::size_t>(step) + 1]) return false;
      }
    }
    return true;
  };
  // The probability of each draw that agrees with `coins` in the bits of `known`.
  const auto mass = [&](unsigned coins, unsigned known) {
    double sum = 0;
    for (unsigned other = 0; other < 1U << (kRows * kSteps); ++other) {
      if ((other & known) != (coins & known) || !drawn(other)) continue;
      const int ones = std::popcount(other);
      sum += std::pow(kRate, ones) * std::pow(1 - kRate, kRows * kSteps - ones);
    }
    return sum;
  };
  bool ever_less = false;
  for (unsigned others = 0; others < 1U << ((kRows - 1) * kSteps); ++others) {
    for (int step = 0; step < kSteps; ++step) {
      for (unsigned past = 0; past < 1U << step; ++past) {
        const unsigned known_before = ((1U << (kRows * kSteps)) - 1) & ~((1U << kSteps) - (1U << step));
        const unsigned coins = others << kSteps | past;
        const double before = mass(coins, known_before);
        if (before == 0) continue;
        const double taken = mass(coins | 1U << step, known_before | 1U << step) / before;
        EXPECT_LE(taken, kRate * (1 + 1e-12));
        ever_less = ever_less || taken < kRate * 0.999;
      }
    }
  }
  EXPECT_TRUE(ever_less);  // the bounds bind somewhere, so that this tests something

  // And the schedule draws by that law: how often row 0 is in step 0, over 40,000 seeds, within five standard
  // deviations (a right build fails for one set of seeds in 1.7 million).
  const double expected = mass(1, 1) / mass(0, 0);
  constexpr int kSeeds = 40'000;
  int taken = 0;
  RandomStream seeds(FixedKey(4));
  for (int k = 0; k < kSeeds; ++k) {
    std::array<std::uint8_t, SecretKey::kBytes> bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(seeds.NextWord());
    const PublicSchedule schedule(SecretKey(bytes), kRows, kRate, kSteps);
    const auto& rows = schedule.RowsOf(0);
    taken += std::count(rows.begin(), rows.end(), 0) > 0 ? 1 : 0;
  }
  EXPECT_NEAR(taken, kSeeds * expected, 5 * std::sqrt(kSeeds * expected * (1 - expected)));
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

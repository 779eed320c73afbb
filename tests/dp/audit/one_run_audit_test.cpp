#include "dp/audit/one_run_audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

/// P[right guesses >= v] by going through all outcomes of r guesses, each right with probability `chance`.
double BruteForceTail(int r, int v, double chance) {
  double sum = 0;
  for (unsigned outcome = 0; outcome < (1U << static_cast<unsigned>(r)); ++outcome) {
    if (__builtin_popcount(outcome) < v) continue;
    double probability = 1;
    for (int i = 0; i < r; ++i)
      probability *= (outcome >> static_cast<unsigned>(i)) % 2 == 1 ? chance : 1 - chance;
    sum += probability;
  }
  return sum;
}

double RightChance(double epsilon) { return 1 / (1 + std::exp(-epsilon)); }

TEST(OneRunPValue, IsRandomisedResponsesExactTailWithoutDelta) {
  for (int r = 1; r <= 11; ++r) {
    for (int v = 0; v <= r; ++v) {
      // At epsilon 0 a guess is right with probability 1/2: sums of powers of two, exact in double.
      const double half = BruteForceTail(r, v, 0.5);
      const double value = OneRunPValue({.canaries = r, .guesses = r, .right = v}, 0, 0);
      EXPECT_GE(value, half) << r << ' ' << v;
      EXPECT_LE(value, half * (1 + 1e-15)) << r << ' ' << v;

      const double expected = BruteForceTail(r, v, RightChance(1.7));
      EXPECT_NEAR(OneRunPValue({.canaries = r + 5, .guesses = r, .right = v}, 1.7, 0) / expected, 1, 1e-12);
    }
  }
}

TEST(OneRunPValue, IsExactWhereDoublesUnderflow) {
  // 2^-5000 is no double.
  EXPECT_DOUBLE_EQ(OneRunPValue({.canaries = 5000, .guesses = 5000, .right = 1}, 0, 0), 1);
  EXPECT_NEAR(OneRunPValue({.canaries = 5000, .guesses = 5000, .right = 2501}, 0, 0), 0.5, 0.01);
  EXPECT_EQ(OneRunPValue({.canaries = 5000, .guesses = 5000, .right = 5000}, 0, 0), std::ldexp(1, -1074));
}

/// Mechanisms of (epsilon, delta) that give away `shown` of m canaries at once, with the probability that
/// delta allows, and else answer by randomised response: P[right >= v], all of them guessed.
double LeakyTail(int m, int v, double epsilon, double delta, int shown) {
  const double q = RightChance(epsilon);
  const double leak = m * delta / shown;  // each canary is among the shown with probability delta
  return (1 - leak) * BruteForceTail(m, v, q) + leak * BruteForceTail(m - shown, std::max(0, v - shown), q);
}

TEST(OneRunPValue, BoundsMechanismsThatUseTheirDelta) {
  constexpr double kDelta = 0.01;
  for (const double epsilon : {0.0, 0.5, 2.0}) {
    for (int m = 1; m <= 10; ++m) {
      for (int v = 0; v <= m; ++v) {
        const double bound = OneRunPValue({.canaries = m, .guesses = m, .right = v}, epsilon, kDelta);
        double worst = BruteForceTail(m, v, (std::exp(epsilon) + kDelta) / (std::exp(epsilon) + 1));
        for (int shown = 1; shown <= m; ++shown)
          worst = std::max(worst, LeakyTail(m, v, epsilon, kDelta, shown));
        EXPECT_GE(bound, worst * (1 - 1e-12)) << m << ' ' << v << ' ' << epsilon;
        // Not much above it either: the theorem charges at most twice what these mechanisms gain by delta,
        // and lets what they show be right in full.
        const double pure = BruteForceTail(m, v, RightChance(epsilon));
        EXPECT_LE(bound - pure, 2 / (1 - RightChance(epsilon)) * (worst - pure) + 1e-12)
            << m << ' ' << v << ' ' << epsilon;
      }
    }
  }
}

TEST(OneRunPValue, GrowsWithEpsilonAndDelta) {
  const CanaryGuesses seen{.canaries = 400, .guesses = 200, .right = 170};
  double last = 0;
  for (double epsilon = 0; epsilon < 4; epsilon += 0.01) {
    const double value = OneRunPValue(seen, epsilon, 1e-4);
    EXPECT_GE(value, last);
    EXPECT_LE(OneRunPValue(seen, epsilon, 1e-5), value);
    last = value;
  }
  EXPECT_EQ(OneRunPValue(seen, 0, 0.01), 1);  // 2 m delta = 8
}

struct AuditCase {
  CanaryGuesses seen;
  double delta;
  double false_alarm;
  double expected;
};

// Expected values: the formula in 60 decimal digits with Python's decimal and math.comb, solved by bisection.
TEST(OneRunEpsilon, AgreesWithAnIndependentComputation) {
  for (const auto& [seen, delta, false_alarm, expected] :
       {AuditCase{{1000, 600, 600}, 1e-5, 0.05, 5.27039946351468},
        AuditCase{{1000, 500, 490}, 1e-5, 0.003, 3.04663399728450},
        AuditCase{{1000, 250, 183}, 1e-5, 0.003, 0.60300542909076},
        AuditCase{{20, 10, 10}, 1e-3, 0.05, 0.97697818016392},
        AuditCase{{1000, 500, 400}, 0, 0.003, 1.08117159689133}}) {
    const double epsilon = OneRunEpsilon(seen, delta, false_alarm);
    EXPECT_LE(epsilon, expected + 1e-13);
    EXPECT_GT(epsilon, expected - 1e-9);
  }
}

TEST(OneRunEpsilon, SaysNothingWhereGuessingDoesAsWell) {
  EXPECT_EQ(OneRunEpsilon({.canaries = 100, .guesses = 50, .right = 25}, 1e-5, 0.05), 0);
  EXPECT_EQ(OneRunEpsilon({.canaries = 100, .guesses = 0, .right = 0}, 1e-5, 0.05), 0);
  EXPECT_EQ(OneRunEpsilon({.canaries = 100, .guesses = 50, .right = 50}, 0.01, 0.05), 0);  // delta allows all
}

TEST(OneRunAudit, RefusesWhatNobodyCanHaveSeen) {
  EXPECT_THROW((void)OneRunPValue({.canaries = 4, .guesses = 5, .right = 1}, 1, 0), ContractError);
  EXPECT_THROW((void)OneRunPValue({.canaries = 4, .guesses = 3, .right = 4}, 1, 0), ContractError);
  EXPECT_THROW((void)OneRunPValue({.canaries = 4, .guesses = 3, .right = 2}, -1, 0), ContractError);
  EXPECT_THROW((void)OneRunPValue({.canaries = 4, .guesses = 3, .right = 2}, NAN, 0), ContractError);
  EXPECT_THROW((void)OneRunPValue({.canaries = 4, .guesses = 3, .right = 2}, 1, NAN), ContractError);
  EXPECT_THROW((void)OneRunEpsilon({.canaries = 4, .guesses = 3, .right = 2}, 0, 0), ContractError);
  EXPECT_THROW((void)BestOneRunBound({{.score = 1, .included = true}}, 0, 0.05), ContractError);
  EXPECT_THROW((void)BestOneRunBound({{.score = NAN}, {.score = 1}}, 0, 0.05), ContractError);
}

TEST(GuessGrid, HalvesFromAQuarter) {
  EXPECT_EQ(GuessGrid(1000), (std::vector<std::int64_t>{250, 125, 62, 31}));
  EXPECT_EQ(GuessGrid(2), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(GuessGrid(16), (std::vector<std::int64_t>{4, 2, 1}));
}

TEST(BestOneRunBound, GuessesTheHighestInAndTheLowestOut) {
  // Of 64: the first 20 by score in, the last 20 out, one of each wrong among the outermost; in between all
  // wrong.
  std::vector<ScoredCanary> canaries;
  for (int i = 0; i < 64; ++i) {
    const bool in = i < 20 || (i >= 32 && i < 44);
    canaries.push_back({.score = -static_cast<double>(i), .included = i == 1 ? false : i == 63 ? true : in});
  }
  std::reverse(canaries.begin() + 7, canaries.end());  // the order in the list is no matter
  const auto bound = BestOneRunBound(canaries, 1e-6, 0.04);
  EXPECT_EQ(bound.guesses.canaries, 64);
  EXPECT_EQ(bound.guesses.guesses, 32);
  EXPECT_EQ(bound.guesses.right, 30);
  EXPECT_EQ(bound.epsilon, OneRunEpsilon(bound.guesses, 1e-6, 0.04 / 4));
}

TEST(BestOneRunBound, TakesTheBestOfTheGrid) {
  // Right among the 4 outermost on either side only; elsewhere the other way round.
  std::vector<ScoredCanary> canaries;
  for (int i = 0; i < 128; ++i)
    canaries.push_back({.score = -static_cast<double>(i), .included = i < 4 || (i >= 64 && i < 124)});
  const auto bound = BestOneRunBound(canaries, 0, 0.05);
  EXPECT_EQ(bound.guesses.guesses, 8);
  EXPECT_EQ(bound.guesses.right, 8);
}

/// Randomised response on every canary: the score is the true bit with probability e^epsilon / (e^epsilon +
/// 1), with a little noise so that all scores differ.
std::vector<ScoredCanary> RandomisedResponse(RandomStream& coins, int count, double epsilon) {
  std::vector<ScoredCanary> canaries;
  const auto uniform = [&] { return std::ldexp(static_cast<double>(coins.NextWord()), -64); };
  for (int i = 0; i < count; ++i) {
    const bool included = uniform() < 0.5;
    const bool told = uniform() < RightChance(epsilon) ? included : !included;
    canaries.push_back({.score = (told ? 1 : 0) + uniform() / 2, .included = included});
  }
  return canaries;
}

TEST(BestOneRunBound, HoldsForRandomisedResponseAndComesClose) {
  constexpr int kRuns = 100;
  constexpr double kFalseAlarm = 0.05;
  for (const double epsilon : {0.5, 1.5, 3.0}) {
    auto coins = FixedStream(static_cast<std::uint8_t>(10 * epsilon));
    int above = 0;
    double sum = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double bound = BestOneRunBound(RandomisedResponse(coins, 400, epsilon), 0, kFalseAlarm).epsilon;
      above += bound > epsilon ? 1 : 0;
      sum += bound;
    }
    // At most 5 of 100 in expectation; five standard deviations more, which a right bound exceeds for less
    // than one seed in ten thousand.
    EXPECT_LE(above, kRuns * kFalseAlarm + 5 * std::sqrt(kRuns * kFalseAlarm * (1 - kFalseAlarm)));
    // A quarter on either side, 200 guesses: the level of 0.05/4 takes 2.2 of their standard deviations, and
    // a bit for the binomial's tail; the mean of 100 runs moves by a tenth of one.
    const double q = RightChance(epsilon);
    const double seen = q - 3.5 * std::sqrt(q * (1 - q) / 200);
    EXPECT_GT(sum / kRuns, std::log(seen / (1 - seen)));
  }
}

TEST(OneRunEpsilon, IsAtItsLevelForFixedGuesses) {
  // Randomised response is the worst case: the bound is above its epsilon as often as allowed, but for the
  // steps of a binomial.
  constexpr int kRuns = 4000;
  constexpr double kFalseAlarm = 0.05;
  auto coins = FixedStream(7);
  int above = 0;
  for (int run = 0; run < kRuns; ++run) {
    CanaryGuesses seen{.canaries = 300, .guesses = 300, .right = 0};
    for (int i = 0; i < 300; ++i)
      seen.right += std::ldexp(static_cast<double>(coins.NextWord()), -64) < RightChance(1) ? 1 : 0;
    above += OneRunPValue(seen, 1, 0) <= kFalseAlarm ? 1 : 0;
  }
  // Five standard deviations either way (one seed in a million); steps of a binomial take less than a third.
  const double deviation = std::sqrt(kRuns * kFalseAlarm * (1 - kFalseAlarm));
  EXPECT_LE(above, kRuns * kFalseAlarm + 5 * deviation);
  EXPECT_GE(above, kRuns * kFalseAlarm * 2 / 3 - 5 * deviation);
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/audit/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

/// Small whole numbers, so that many are equal.
std::vector<double> Scores(RandomStream& coins, int count, unsigned shift) {
  std::vector<double> scores;
  for (int i = 0; i < count; ++i) scores.push_back(static_cast<double>(coins.NextWord() % 20 + shift));
  return scores;
}

double RateAbove(const std::vector<double>& scores, double threshold) {
  return static_cast<double>(
             std::count_if(scores.begin(), scores.end(), [&](double s) { return s > threshold; })) /
         static_cast<double>(scores.size());
}

TEST(MeasureAttack, AgreesWithEveryPairAndEveryThreshold) {
  auto coins = FixedStream(3);
  for (int round = 0; round < 50; ++round) {
    const auto members = Scores(coins, 1 + round, 4);
    const auto others = Scores(coins, 60 - round, 0);
    const auto result = MeasureAttack(members, others, {.false_positive_rate = 0.1, .confidence = 0.9});

    double pairs = 0;
    for (const double in : members) {
      for (const double out : others) pairs += in > out ? 1 : in == out ? 0.5 : 0;
    }
    EXPECT_NEAR(result.auc, pairs / static_cast<double>(members.size() * others.size()), 1e-12);
    double rate = 0;
    double accuracy = 0.5;
    for (double threshold = -0.5; threshold < 25; ++threshold) {
      const double found = RateAbove(members, threshold);
      const double taken = RateAbove(others, threshold);
      if (taken <= 0.1) rate = std::max(rate, found);
      accuracy = std::max(accuracy, (found + 1 - taken) / 2);
    }
    EXPECT_DOUBLE_EQ(result.true_positive_rate, rate);
    EXPECT_DOUBLE_EQ(result.accuracy, accuracy);
    const double half =
        std::sqrt(std::log(20) / 2 / static_cast<double>(std::min(members.size(), others.size())));
    EXPECT_NEAR(result.auc_low, std::max(0.0, result.auc - half), 1e-12);
    EXPECT_NEAR(result.auc_high, std::min(1.0, result.auc + half), 1e-12);
  }
}

TEST(MeasureAttack, ReachesItsEnds) {
  const auto perfect = MeasureAttack({3, 4}, {1, 2}, {});
  EXPECT_EQ(perfect.auc, 1);
  EXPECT_EQ(perfect.true_positive_rate, 1);
  EXPECT_EQ(perfect.accuracy, 1);
  const auto inverse = MeasureAttack({1, 2}, {3, 4}, {});
  EXPECT_EQ(inverse.auc, 0);
  EXPECT_EQ(inverse.true_positive_rate, 0);
  EXPECT_EQ(inverse.accuracy, 0.5);
}

TEST(MeasureAttack, RefusesNothingToCompare) {
  EXPECT_THROW((void)MeasureAttack({}, {1}, {}), ContractError);
  EXPECT_THROW((void)MeasureAttack({1}, {}, {}), ContractError);
  EXPECT_THROW((void)MeasureAttack({NAN}, {1}, {}), ContractError);
  EXPECT_THROW((void)MeasureAttack({1}, {1}, {.false_positive_rate = 2}), ContractError);
  EXPECT_THROW((void)MeasureAttack({1}, {1}, {.confidence = 1}), ContractError);
}

double BestRate(double epsilon, double delta, double taken) {
  return std::min({1.0, std::exp(epsilon) * taken + delta, 1 - std::exp(-epsilon) * (1 - delta - taken)});
}

TEST(LimitsOf, AreThoseOfTheBestCurve) {
  for (const double epsilon : {0.0, 0.3, 1.0, 3.0, 8.0}) {
    for (const double delta : {0.0, 1e-5, 0.1}) {
      constexpr int kParts = 200'000;
      double area = 0;
      double accuracy = 0;
      for (int i = 0; i < kParts; ++i) {
        const double taken = (i + 0.5) / kParts;
        area += BestRate(epsilon, delta, taken) / kParts;
        accuracy = std::max(accuracy, (BestRate(epsilon, delta, taken) + 1 - taken) / 2);
      }
      const auto limits = LimitsOf(epsilon, delta, 0.01);
      EXPECT_NEAR(limits.auc, area, 1e-6) << epsilon << ' ' << delta;
      EXPECT_NEAR(limits.accuracy, accuracy, 1e-4) << epsilon << ' ' << delta;
      EXPECT_GE(limits.accuracy, accuracy - 1e-12);
      for (const double taken : {0.0, 0.01, 0.3, 0.95, 1.0})
        EXPECT_NEAR(LimitsOf(epsilon, delta, taken).true_positive_rate, BestRate(epsilon, delta, taken),
                    1e-12);
    }
  }
}

TEST(LimitsOf, AllowEverythingWithoutAGuarantee) {
  const auto limits = LimitsOf(std::numeric_limits<double>::infinity(), 1e-5, 0.01);
  EXPECT_EQ(limits.auc, 1);
  EXPECT_EQ(limits.true_positive_rate, 1);
  EXPECT_EQ(limits.accuracy, 1);
  const auto huge = LimitsOf(2000, 0, 0.01);
  EXPECT_DOUBLE_EQ(huge.auc, 1);
  EXPECT_DOUBLE_EQ(huge.true_positive_rate, 1);
}

}  // namespace
}  // namespace trefoil::dp

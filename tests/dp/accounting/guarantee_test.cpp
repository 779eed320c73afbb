#include "dp/accounting/guarantee.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace trefoil::dp {
namespace {

TEST(FailuresAt, IsNeverBelowTheExactCharge) {
  EXPECT_EQ(FailuresAt(3, 0, 0), 0);
  EXPECT_EQ(FailuresAt(3, 1e-7, 0), 1e-7);
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> uniform;
  for (int trial = 0; trial < 1000; ++trial) {
    const double epsilon = 8 * uniform(generator);
    const double failure = 1e-6 * uniform(generator);
    const double distance = 1e-9 * uniform(generator);
    const long double exact = failure + (1 + std::exp(static_cast<long double>(epsilon))) * distance;
    EXPECT_GE(FailuresAt(epsilon, failure, distance), exact);
    EXPECT_NEAR(FailuresAt(epsilon, failure, distance), static_cast<double>(exact), 1e-14 * failure + 1e-20);
  }
}

// What is left of delta is a difference of numbers from 2^-7 to 1, which a long double holds exactly.
TEST(EpsilonAfterFailures, LeavesNoMoreOfDeltaThanThereIs) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform(0.1, 0.99);
  int below = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double delta = uniform(generator);
    const double failure = delta * uniform(generator);
    double left = 0;
    (void)EpsilonAfterFailures(delta, failure, 0, [&](double remaining) { return left = remaining; });
    const long double exact = static_cast<long double>(delta) - failure;
    EXPECT_LE(left, exact);
    EXPECT_GE(left, exact * (1 - 1e-15L) - 1e-300L);
    below += static_cast<long double>(delta - failure) > exact ? 1 : 0;
  }
  EXPECT_GT(below, 50);  // where a plain difference leaves more
  double left = 0;
  (void)EpsilonAfterFailures(1e-5, 0, 0, [&](double remaining) { return left = remaining; });
  EXPECT_EQ(left, 1e-5);
}

TEST(EpsilonAfterFailures, SolvesForWhatTotalVariationLeaves) {
  const auto at = [](double delta) { return -std::log(delta) / 4; };
  const double epsilon = EpsilonAfterFailures(1e-4, 1e-6, 1e-7, at);
  EXPECT_NEAR(epsilon, at(1e-4 - 1e-6 - (1 + std::exp(epsilon)) * 1e-7), 1e-9);
  EXPECT_TRUE(std::isinf(EpsilonAfterFailures(1e-4, 1e-4, 0, at)));
  EXPECT_TRUE(std::isinf(EpsilonAfterFailures(1e-4, 0, 1e-4, at)));
}

}  // namespace
}  // namespace trefoil::dp

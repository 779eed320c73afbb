#include "dp/mechanisms/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

TEST(Above, IsTheNextDoubleAndLeavesZero) {
  EXPECT_EQ(Above(0), 0);
  EXPECT_EQ(Above(1), 1 + 0x1p-52);
  EXPECT_EQ(Above(kInfinity), kInfinity);
}

// A product of 60 bits and a sum of 61, which a long double holds.
TEST(SumAbove, IsNeverBelowAndWithinAUnitOfTheExactSum) {
  std::mt19937_64 generator(1);
  int rounded_up = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const auto sum = static_cast<double>(generator() >> 11);
    const auto count = static_cast<double>(generator() >> 54);
    const double each = std::ldexp(static_cast<double>(generator() >> 14), -3);
    const long double exact = static_cast<long double>(sum) + static_cast<long double>(count) * each;
    const double found = SumAbove(sum, count, each);
    EXPECT_GE(found, exact);
    EXPECT_LE(std::nextafter(found, 0), exact);
    rounded_up += sum + count * each < exact ? 1 : 0;
  }
  EXPECT_GT(rounded_up, 1000);  // where plain sums are below
}

TEST(QuotientAbove, IsNeverBelowAndWithinAUnitOfTheExactQuotient) {
  int up = 0;
  for (int numerator = 1; numerator <= 200; ++numerator) {
    for (int denominator = 1; denominator <= 200; ++denominator) {
      const double found = QuotientAbove(numerator, denominator);
      // Products of such numbers and a double's 53 bits fit into 64.
      EXPECT_GE(static_cast<long double>(found) * denominator, numerator);
      EXPECT_LT(static_cast<long double>(std::nextafter(found, 0)) * denominator, numerator);
      up += found > static_cast<double>(numerator) / denominator ? 1 : 0;
    }
  }
  EXPECT_GT(up, 5000);
  EXPECT_EQ(QuotientAbove(200, 20), 10);
}

TEST(SumAbove, TakesExactSumsAsTheyAre) {
  EXPECT_EQ(SumAbove(0, 0, 0.1), 0);
  EXPECT_EQ(SumAbove(0.1, 5, 0), 0.1);
  EXPECT_EQ(SumAbove(1, 3, 0.5), 2.5);
  EXPECT_EQ(SumAbove(1, 2, kInfinity), kInfinity);
}

TEST(SumAbove, CountsWhatUnderflows) {
  EXPECT_GT(SumAbove(0, 1e-10, std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_GT(SumAbove(1, 1, 1e-300), 1);
}

TEST(DeltaWithin, IsBelowTheExactOneAndAllOfDeltaWithoutADivergence) {
  EXPECT_EQ(DeltaWithin(1e-5, 0), 1e-5);
  for (const double divergence : {1e-12, 0.3, 5.0}) {
    const double exact = 1e-5 * std::exp(-divergence);
    EXPECT_LT(DeltaWithin(1e-5, divergence), exact);
    EXPECT_GT(DeltaWithin(1e-5, divergence), exact * (1 - 0x1p-48));
  }
}

}  // namespace
}  // namespace trefoil::dp

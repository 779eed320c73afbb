#include "dp/truncated_poisson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace trefoil::dp {
namespace {

struct Fact {
  const char* name;
  std::int64_t rows;
  double rate;
  std::int64_t limit;
  double probability;
};

class OverflowTest : public testing::TestWithParam<Fact> {};

TEST_P(OverflowTest, IsATightUpperBound) {
  const auto& fact = GetParam();
  const double bound = PoissonOverflowProbability(fact.rows, fact.rate, fact.limit);
  EXPECT_GE(bound, fact.probability);
  EXPECT_LE(bound, fact.probability * (1 + 1e-6));
}

// Computed with mpmath from exact binomial coefficients, 30 digits.
INSTANTIATE_TEST_SUITE_P(Facts, OverflowTest,
                         testing::Values(Fact{"small", 10, 0.25, 4, 0.0781269073486328},
                                         Fact{"mnist", 20000, 2048.0 / 60000, 900, 2.66926550072858e-16},
                                         Fact{"mnist_tight", 20000, 2048.0 / 60000, 750, 0.00456571536155700},
                                         Fact{"adult", 10854, 0.0942, 1200, 5.53858679134712e-9},
                                         Fact{"a_million_rows", 1000000, 0.001, 1300, 5.04470592180088e-20},
                                         Fact{"all_five", 5, 0.3, 4, 0.00243 - 1e-17}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Overflow, IsOneWhereTheLimitIsNotAboveTheMean) {
  EXPECT_EQ(PoissonOverflowProbability(100, 0.5, 50), 1);
  EXPECT_EQ(PoissonOverflowProbability(100, 1, 99), 1);
}

TEST(Overflow, IsZeroWhereNothingIsCut) {
  EXPECT_EQ(PoissonOverflowProbability(100, 1, 100), 0);
  EXPECT_EQ(PoissonOverflowProbability(0, 0.5, 0), 0);
  EXPECT_EQ(PoissonOverflowProbability(100, 0, 0), 0);
}

TEST(Overflow, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW((void)PoissonOverflowProbability(-1, 0.5, 0), ConfigError);
  EXPECT_THROW((void)PoissonOverflowProbability(10, std::nan(""), 0), ConfigError);
  EXPECT_THROW((void)PoissonOverflowProbability(10, 0.5, -1), ConfigError);
}

TEST(Overflow, OfAllOwnersIsTheLargest) {
  const BatchLimits limits{{100, 200, 0}, {20, 30, 0}};
  EXPECT_EQ(OverflowProbability(limits, 0.1), PoissonOverflowProbability(200, 0.1, 30));
}

TEST(RemainingDelta, TakesOffTheReserve) {
  const BatchLimits limits{{20000, 20000, 20000}, {850, 850, 850}};
  const double q = 2048.0 / 60000;
  const double reserve = (1 + std::exp(3.0)) * 439 * PoissonOverflowProbability(20000, q, 850);
  ASSERT_GT(reserve, 1e-8);
  EXPECT_DOUBLE_EQ(RemainingDelta(3, 1e-5, 439, q, limits), 1e-5 - reserve);
}

TEST(RemainingDelta, NamesTheSmallestLimitThatSuffices) {
  const double q = 2048.0 / 60000;
  const auto enough = SmallestMaxBatch(3, 1e-5, 439, q, 20000);
  const auto with = [&](std::int64_t limit) {
    return RemainingDelta(3, 1e-5, 439, q, BatchLimits{{20000, 20000, 20000}, {900, limit, 900}});
  };

  EXPECT_GE(with(enough), 0.5e-5);
  try {
    (void)with(enough - 1);
    FAIL() << "a limit that is too small was accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("found " + std::to_string(enough - 1)));
    EXPECT_THAT(error.what(), testing::HasSubstr("at least " + std::to_string(enough) + " for party 1"));
  }
}

TEST(RemainingDelta, CutsNothingAtFullCapacity) {
  EXPECT_EQ(RemainingDelta(3, 1e-5, 439, 1, BatchLimits{{10, 20, 30}, {10, 20, 30}}), 1e-5);
  EXPECT_EQ(SmallestMaxBatch(3, 1e-5, 439, 1, 30), 30);
  EXPECT_EQ(SmallestMaxBatch(3, 1e-5, 439, 0, 30), 0);
}

TEST(RemainingDelta, RefusesWhatIsOutsideItsDomain) {
  const BatchLimits limits{{10, 10, 10}, {10, 10, 10}};
  EXPECT_THROW((void)RemainingDelta(std::nan(""), 1e-5, 1, 0.1, limits), ConfigError);
  EXPECT_THROW((void)RemainingDelta(1, 0, 1, 0.1, limits), ConfigError);
  EXPECT_THROW((void)RemainingDelta(1, 1e-5, -1, 0.1, limits), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp

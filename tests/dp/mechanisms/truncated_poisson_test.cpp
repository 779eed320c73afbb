#include "dp/mechanisms/truncated_poisson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/error.h"

namespace trefoil::dp {
namespace {

struct OverflowFact {
  const char* name;
  std::int64_t rows;
  double rate;
  std::int64_t limit;
  double probability;
};

class OverflowTest : public testing::TestWithParam<OverflowFact> {};

TEST_P(OverflowTest, IsATightUpperBound) {
  const auto& fact = GetParam();
  const double bound = PoissonOverflowProbability(fact.rows, fact.rate, fact.limit);
  EXPECT_GE(bound, fact.probability);
  EXPECT_LE(bound, fact.probability * (1 + 1e-6));
}

// Computed with mpmath from exact binomial coefficients, 30 digits.
INSTANTIATE_TEST_SUITE_P(
    Facts, OverflowTest,
    testing::Values(OverflowFact{"small", 10, 0.25, 4, 0.0781269073486328},
                    OverflowFact{"mnist", 20000, 2048.0 / 60000, 900, 2.66926550072858e-16},
                    OverflowFact{"mnist_tight", 20000, 2048.0 / 60000, 750, 0.00456571536155700},
                    OverflowFact{"adult", 10854, 0.0942, 1200, 5.53858679134712e-9},
                    OverflowFact{"a_million_rows", 1000000, 0.001, 1300, 5.04470592180088e-20},
                    OverflowFact{"all_five", 5, 0.3, 4, 0.00243 - 1e-17}),
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

/// P[sum > limit], exactly, of groups of these sizes, each taken with probability `rate`.
double TailOf(const std::vector<int>& sizes, double rate, int limit) {
  std::vector<double> at(1, 1.0);
  for (const int size : sizes) {
    std::vector<double> next(at.size() + static_cast<std::size_t>(size), 0);
    for (std::size_t k = 0; k < at.size(); ++k) {
      next[k] += at[k] * (1 - rate);
      next[k + static_cast<std::size_t>(size)] += at[k] * rate;
    }
    at = next;
  }
  double tail = 0;
  for (auto k = static_cast<std::size_t>(limit) + 1; k < at.size(); ++k) tail += at[k];
  return tail;
}

/// Calls `use` with every list of falling sizes of at most `most` that has at most `rows` in all.
void ForAllGroups(int rows, int most, std::vector<int>& sizes,
                  const std::function<void(const std::vector<int>&)>& use) {
  use(sizes);
  for (int size = std::min(most, rows); size >= 1; --size) {
    sizes.push_back(size);
    ForAllGroups(rows - size, size, sizes, use);
    sizes.pop_back();
  }
}

TEST(GroupOverflow, BoundsEveryWayToMakeUpGroups) {
  for (const int rows : {7, 12, 15}) {
    for (const int most : {2, 3, 5}) {
      for (const double rate : {0.02, 0.2, 0.6}) {
        for (int limit = 0; limit < rows; ++limit) {
          const double bound = GroupOverflowProbability(rows, rate, limit, most);
          double largest = 0;
          std::vector<int> sizes;
          ForAllGroups(rows, most, sizes, [&](const std::vector<int>& groups) {
            largest = std::max(largest, TailOf(groups, rate, limit));
          });
          ASSERT_LE(largest, bound) << rows << ' ' << most << ' ' << rate << ' ' << limit;
        }
      }
    }
  }
}

TEST(GroupOverflow, IsChernoffsBoundOfWholeGroups) {
  // 3,000 groups of 4 rows at rate 0.05, mean 600 rows, more than 800: P[Bin(3000, 0.05) > 200] is 2.62e-5,
  // Chernoff's exp(-3000 KL(801/12000 || 0.05)) 3.18e-4.
  const double bound = GroupOverflowProbability(12000, 0.05, 800, 4);
  const double share = 801.0 / 12000;
  const double divergence = share * std::log(share / 0.05) + (1 - share) * std::log((1 - share) / 0.95);
  EXPECT_NEAR(bound, std::exp(-3000 * divergence), 1e-9 * bound);
  EXPECT_GT(bound, PoissonOverflowProbability(3000, 0.05, 200));
  EXPECT_LT(bound, 13 * PoissonOverflowProbability(3000, 0.05, 200));
  EXPECT_GT(bound, PoissonOverflowProbability(12000, 0.05, 800));
  EXPECT_EQ(GroupOverflowProbability(12000, 0.05, 800, 1), PoissonOverflowProbability(12000, 0.05, 800));
  EXPECT_EQ(GroupOverflowProbability(100, 0.5, 100, 3), 0);
  EXPECT_EQ(GroupOverflowProbability(100, 0, 0, 3), 0);
  EXPECT_EQ(GroupOverflowProbability(100, 0.5, 40, 3), 1);
  EXPECT_GE(GroupOverflowProbability(4, 0.5, 3, 2), 0.25);  // both groups of two
  EXPECT_THROW((void)GroupOverflowProbability(100, 0.5, 60, 0), ConfigError);
}

TEST(GroupOverflow, IsWhatGroupsAreChargedAndWhatLimitsAreMadeFor) {
  const BatchLimits limits{{12000, 9000, 0}, {900, 900, 0}, 4};
  EXPECT_EQ(OverflowProbability(limits, 0.05), GroupOverflowProbability(11996, 0.05, 896, 4));
  const auto smallest = SmallestMaxBatch(1e-5, 100, 0.05, 12000, 4);
  const auto cost = [&](std::int64_t limit) {
    return 100 * GroupOverflowProbability(11996, 0.05, limit - 4, 4);
  };
  EXPECT_LE(cost(smallest), 0.5e-5);
  EXPECT_GT(cost(smallest - 1), 0.5e-5);
  EXPECT_GT(smallest, SmallestMaxBatch(1e-5, 100, 0.05, 12000));
  EXPECT_THROW((void)RemainingDelta(1e-5, 100, 0.05, {{12000, 0, 0}, {smallest - 1, 0, 0}, 4}), ConfigError);
}

TEST(Overflow, OfAllOwnersIsTheLargest) {
  const BatchLimits limits{{100, 200, 0}, {20, 30, 0}};
  EXPECT_EQ(OverflowProbability(limits, 0.1), PoissonOverflowProbability(199, 0.1, 29));
}

/// P[the batch of an owner with `others` rows has no room for `rows` more], by its definition.
double NoRoomExactly(int others, int rows, double rate, int limit) {
  return TailOf(std::vector<int>(static_cast<std::size_t>(others), 1), rate, limit - rows);
}

TEST(Overflow, OfSeveralRowsIsThatTheOthersLeaveNoRoomForThem) {
  const BatchLimits one{{30, 0, 0}, {12, 0, 0}};
  for (const int rows : {1, 2, 5, 10}) {
    const double exact = NoRoomExactly(30 - rows, rows, 0.05, 12);
    EXPECT_GE(OverflowProbability(one, 0.05, rows), exact) << rows;
    EXPECT_LE(OverflowProbability(one, 0.05, rows), exact * (1 + 1e-5)) << rows;
  }
  EXPECT_EQ(OverflowProbability(one, 0.05, 13), 1);  // there is never room for 13
  EXPECT_EQ(OverflowProbability({{30, 0, 0}, {30, 0, 0}}, 0.05, 13), 0);
}

TEST(Overflow, OfRowsAtSeveralOwnersAddsUpInTheWorstWay) {
  const BatchLimits limits{{30, 40, 50}, {9, 11, 12}};
  double worst = 0;
  for (int a = 0; a <= 4; ++a) {
    for (int b = 0; a + b <= 4; ++b) {
      const int c = 4 - a - b;
      worst = std::max(worst, (a > 0 ? NoRoomExactly(30 - a, a, 0.1, 9) : 0) +
                                  (b > 0 ? NoRoomExactly(40 - b, b, 0.1, 11) : 0) +
                                  (c > 0 ? NoRoomExactly(50 - c, c, 0.1, 12) : 0));
    }
  }
  EXPECT_GE(OverflowProbability(limits, 0.1, 4), worst);
  EXPECT_LE(OverflowProbability(limits, 0.1, 4), worst * (1 + 1e-5));
}

TEST(RemainingDelta, TakesOffTheReserve) {
  const BatchLimits limits{{20000, 20000, 20000}, {850, 850, 850}};
  const double q = 2048.0 / 60000;
  const double reserve = 439 * PoissonOverflowProbability(19999, q, 849);
  ASSERT_GT(reserve, 1e-9);
  EXPECT_DOUBLE_EQ(RemainingDelta(1e-5, 439, q, limits), 1e-5 - reserve);
}

TEST(RemainingDelta, NamesTheSmallestLimitThatSuffices) {
  const double q = 2048.0 / 60000;
  const auto enough = SmallestMaxBatch(1e-5, 439, q, 20000);
  const auto with = [&](std::int64_t limit) {
    return RemainingDelta(1e-5, 439, q, BatchLimits{{20000, 20000, 20000}, {900, limit, 900}});
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
  EXPECT_EQ(RemainingDelta(1e-5, 439, 1, BatchLimits{{10, 20, 30}, {10, 20, 30}}), 1e-5);
  EXPECT_EQ(SmallestMaxBatch(1e-5, 439, 1, 30), 30);
  EXPECT_EQ(SmallestMaxBatch(1e-5, 439, 0, 30), 0);
}

TEST(RemainingDelta, RefusesWhatIsOutsideItsDomain) {
  const BatchLimits limits{{10, 10, 10}, {10, 10, 10}};
  EXPECT_THROW((void)RemainingDelta(0, 1, 0.1, limits), ConfigError);
  EXPECT_THROW((void)RemainingDelta(1e-5, -1, 0.1, limits), ConfigError);
  EXPECT_THROW((void)OverflowProbability(limits, 0.1, 0), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp

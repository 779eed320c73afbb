#include "dp/accounting/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/error.h"
#include "dp/accounting/infinity.h"
#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

TEST(SmallestNoiseMultiplier, RefusesWhatIsOutOfReachAndStopsAtItsFloor) {
  EXPECT_THROW((void)SmallestNoiseMultiplier(1, [](double) { return kInfinity; }), ConfigError);
  EXPECT_THROW((void)SmallestNoiseMultiplier(kNan, [](double) { return 0.0; }), ConfigError);
  EXPECT_THROW((void)SmallestNoiseMultiplier(0, [](double) { return 0.0; }), ConfigError);
  EXPECT_THROW((void)SmallestNoiseMultiplier(1, [](double) { return kNan; }), ContractError);
  EXPECT_EQ(SmallestNoiseMultiplier(1, [](double) { return 0.0; }), 0.01);
  const double above_floor = SmallestNoiseMultiplier(1, [](double sigma) { return 0.0101 / sigma; });
  EXPECT_GE(above_floor, 0.0101);
  EXPECT_LE(above_floor, 0.0101 * (1 + 1.1e-4));
}

/// Ends where halving ends, without one question saved.
double ByHalving(double target, const std::function<double(double)>& epsilon) {
  double high = 1;
  while (epsilon(high) > target) high = std::min(2 * high, 1e7);
  double low = high / 2;
  while (low > 0.01 && epsilon(low) <= target) {
    high = low;
    low /= 2;
  }
  low = std::max(low, 0.01);
  if (epsilon(low) <= target) return low;
  while (high > low * (1 + 1e-4)) {
    const double middle = std::sqrt(low * high);
    (epsilon(middle) <= target ? high : low) = middle;
  }
  return high;
}

struct Curve {
  std::function<double(double)> epsilon;
  int most_asked;  ///< for any target, besides the doublings up to the answer and the halvings down to it
};

TEST(SmallestNoiseMultiplier, EndsWhereHalvingEndsWithFewerQuestions) {
  const std::vector<Curve> curves{
      {[](double s) { return 3 / s; }, 5},
      {[](double s) { return 2 / (s * s) + 1 / s; }, 7},
      {[](double s) { return std::log1p(5 * std::expm1(1 / (s * s))) + 0.005; }, 9},
      // Those whose logarithms are no lines: a cliff, infinity, stairs, a target that lies on a step.
      {[](double s) { return s < 1.3 ? kInfinity : 1e-3 / s; }, 22},
      {[](double s) { return s < 0.7     ? 1e9 / s
                             : s < 23.45 ? 3.0
                                         : 0.0; }, 22},
      {[](double s) { return std::floor(1000 / s) / 100; }, 22},
      {[](double s) { return s < 5 ? 1 : 1 / s; }, 22}};
  for (const double target : {1e-2, 0.1, 0.3, 1.0, 2.0, 3.0, 8.0, 47.0}) {
    for (std::size_t k = 0; k < curves.size(); ++k) {
      SCOPED_TRACE(testing::Message() << "target " << target << ", curve " << k);
      int asked = 0;
      const double found = SmallestNoiseMultiplier(target, [&](double multiplier) {
        ++asked;
        return curves[k].epsilon(multiplier);
      });
      EXPECT_EQ(found, ByHalving(target, curves[k].epsilon));
      EXPECT_LE(curves[k].epsilon(found), target);
      EXPECT_LE(asked - std::abs(std::log2(found)), curves[k].most_asked);
    }
  }
}

TEST(SmallestNoiseMultiplier, MeetsTheTargetAlsoWhereEpsilonDoesNotQuiteFall) {
  for (const double target : {0.1, 1.0, 3.0, 17.0}) {
    int asked = 0;
    const auto epsilon = [](double s) { return 3 / s * (1 + 1e-3 * std::sin(1e4 * s)); };
    const double found = SmallestNoiseMultiplier(target, [&](double multiplier) {
      ++asked;
      return epsilon(multiplier);
    });
    EXPECT_LE(epsilon(found), target);
    EXPECT_GE(epsilon(found), target * (1 - 3e-3));
    EXPECT_LE(asked - std::abs(std::log2(found)), 22);
  }
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/closeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace trefoil::dp {
namespace {

using Law = std::vector<long double>;  // of -kHalf .. kHalf
constexpr int kHalf = 60;

Law DiscreteGaussianLaw(long double variance) {
  Law law;
  long double sum = 0;
  for (int x = -kHalf; x <= kHalf; ++x) sum += law.emplace_back(std::exp(-x * x / (2 * variance)));
  for (auto& p : law) p /= sum;
  return law;
}

Law SumOf(const Law& a, const Law& b) {
  Law law(a.size(), 0);
  for (int x = -kHalf; x <= kHalf; ++x) {
    for (int y = std::max(-kHalf, x - kHalf); y <= std::min(kHalf, x + kHalf); ++y) {
      law[static_cast<std::size_t>(x + kHalf)] +=
          a[static_cast<std::size_t>(y + kHalf)] * b[static_cast<std::size_t>(x - y + kHalf)];
    }
  }
  return law;
}

struct Case {
  const char* name;
  int summands;
  double deviation;
};

class ClosenessTest : public testing::TestWithParam<Case> {};

TEST_P(ClosenessTest, BoundsTheExactRatio) {
  const auto& [name, summands, deviation] = GetParam();
  const auto variance = static_cast<long double>(deviation) * deviation;
  const auto one = DiscreteGaussianLaw(variance);
  auto sum = one;
  for (int k = 1; k < summands; ++k) sum = SumOf(sum, one);
  const auto single = DiscreteGaussianLaw(summands * variance);

  long double largest = 0;
  for (int x = -8; x <= 8; ++x) {
    const auto i = static_cast<std::size_t>(x + kHalf);
    largest = std::max(largest, std::abs(std::log(sum[i] / single[i])));
  }

  const double bound = ClosenessPerCoordinate(summands, deviation);
  EXPECT_LE(largest, bound);
  EXPECT_GE(largest, bound / 60);  // its constants are loose, its exponents are not
}

INSTANTIATE_TEST_SUITE_P(Small, ClosenessTest,
                         testing::Values(Case{"two_at_0_6", 2, 0.6}, Case{"two_at_0_8", 2, 0.8},
                                         Case{"two_at_1", 2, 1}, Case{"three_at_0_6", 3, 0.6},
                                         Case{"three_at_1", 3, 1}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Closeness, HasTheRightEdges) {
  EXPECT_EQ(ClosenessPerCoordinate(1, 0), 0);
  EXPECT_EQ(ClosenessPerCoordinate(2, 0.49), std::numeric_limits<double>::infinity());
  EXPECT_GT(ClosenessPerCoordinate(2, 1e6), 0);  // underflow still leaves an upper bound
  EXPECT_LT(ClosenessPerCoordinate(3, 8), 1e-270);
  EXPECT_EQ(ClosenessCharge(3, 0.1, 0, 5).bound, 0);
  EXPECT_THROW((void)ClosenessPerCoordinate(0, 8), ConfigError);
  EXPECT_THROW((void)ClosenessPerCoordinate(2, std::nan("")), ConfigError);
  EXPECT_THROW((void)ClosenessCharge(2, 8, -1, 5), ConfigError);
}

TEST(Closeness, ChargesEveryCoordinateAndRelease) {
  const auto charge = ClosenessCharge(3, 1.5, 7850, 439);
  EXPECT_DOUBLE_EQ(charge.bound, 7850 * ClosenessPerCoordinate(3, 1.5));
  EXPECT_EQ(charge.count, 439);
}

TEST(Closeness, ChangesNothingAtRealSizes) {
  RdpAccountant with;
  RdpAccountant without;
  with.Add(SampledGaussian{0.04, 1.5, 2250});
  without.Add(SampledGaussian{0.04, 1.5, 2250});
  with.Add(ClosenessCharge(2, 8, 1'000'000, 100'000));
  EXPECT_EQ(with.Epsilon(1e-5).epsilon, without.Epsilon(1e-5).epsilon);
}

}  // namespace
}  // namespace trefoil::dp

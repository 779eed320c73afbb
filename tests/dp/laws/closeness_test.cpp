#include "dp/laws/closeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace trefoil::dp {
namespace {

using WholeLaw = std::vector<long double>;  // of -kHalf .. kHalf
constexpr int kHalf = 60;

WholeLaw DiscreteGaussianLaw(long double variance) {
  WholeLaw law;
  long double sum = 0;
  for (int x = -kHalf; x <= kHalf; ++x) sum += law.emplace_back(std::exp(-x * x / (2 * variance)));
  for (auto& p : law) p /= sum;
  return law;
}

WholeLaw SumOf(const WholeLaw& a, const WholeLaw& b) {
  WholeLaw law(a.size(), 0);
  for (int x = -kHalf; x <= kHalf; ++x) {
    for (int y = std::max(-kHalf, x - kHalf); y <= std::min(kHalf, x + kHalf); ++y) {
      law[static_cast<std::size_t>(x + kHalf)] +=
          a[static_cast<std::size_t>(y + kHalf)] * b[static_cast<std::size_t>(x - y + kHalf)];
    }
  }
  return law;
}

/// The greatest difference of the laws of noise around 0 and around `shift`, the latter times e^epsilon.
double DiscreteDelta(const WholeLaw& law, int shift, double epsilon) {
  long double delta = 0;
  for (int x = -kHalf + shift; x <= kHalf; ++x) {
    const auto difference =
        law[static_cast<std::size_t>(x - shift + kHalf)] -
        std::exp(static_cast<long double>(epsilon)) * law[static_cast<std::size_t>(x + kHalf)];
    delta += std::max(difference, 0.0L);
  }
  return static_cast<double>(delta);
}

/// The same of continuous Gaussians (Balle and Wang 2018).
double ContinuousDelta(double multiplier, double epsilon) {
  const auto above = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
  return above(epsilon * multiplier - 0.5 / multiplier) -
         std::exp(epsilon) * above(epsilon * multiplier + 0.5 / multiplier);
}

// The whole argument in one dimension: at the least deviation that is allowed the discrete Gaussian is worse
// than the continuous one of the same variance, and never worse than the one that is accounted for.
TEST(ContinuousMultiplier, CoversWhatADiscreteGaussianLosesMore) {
  constexpr double kDeviation = 8;
  const auto law = DiscreteGaussianLaw(kDeviation * kDeviation);
  for (const int shift : {1, 3, 8, 20}) {
    const double multiplier = kDeviation / shift;
    const double covering = ContinuousMultiplier(multiplier, kDeviation);
    double most = 0;
    for (double epsilon = 0; epsilon < 3; epsilon += 0.001) {
      const double discrete = DiscreteDelta(law, shift, epsilon);
      const double continuous = ContinuousDelta(multiplier, epsilon);
      if (continuous < 1e-9) break;  // the law's ends
      most = std::max(most, discrete / continuous);
      EXPECT_LE(discrete, ContinuousDelta(covering, epsilon) * (1 + 1e-9)) << shift << ' ' << epsilon;
    }
    EXPECT_GT(most, 1.00001) << shift;
  }
}

TEST(ContinuousMultiplier, TakesNothingAtRealSizesAndAllBelowItsRounding) {
  EXPECT_EQ(ContinuousMultiplier(1.1, 1e9), 1.1);
  EXPECT_DOUBLE_EQ(ContinuousMultiplier(1.1, 8), 1.1 * std::sqrt(60.0 / 64));
  EXPECT_EQ(ContinuousMultiplier(1.1, 2), 0);
  EXPECT_EQ(ContinuousMultiplier(1.1, 0), 0);
  EXPECT_THROW((void)ContinuousMultiplier(1.1, -1), ConfigError);
  EXPECT_THROW((void)ContinuousMultiplier(1.1, std::nan("")), ConfigError);
}

struct ClosenessCase {
  const char* name;
  int summands;
  double deviation;
};

class ClosenessTest : public testing::TestWithParam<ClosenessCase> {};

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
                         testing::Values(ClosenessCase{"two_at_0_6", 2, 0.6},
                                         ClosenessCase{"two_at_0_8", 2, 0.8}, ClosenessCase{"two_at_1", 2, 1},
                                         ClosenessCase{"three_at_0_6", 3, 0.6},
                                         ClosenessCase{"three_at_1", 3, 1}),
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
  const double epsilon = without.Epsilon(1e-5).epsilon;
  EXPECT_GE(with.Epsilon(1e-5).epsilon, epsilon);
  EXPECT_NEAR(with.Epsilon(1e-5).epsilon, epsilon, 1e-14 * epsilon);  // a sum is rounded up
}

}  // namespace
}  // namespace trefoil::dp

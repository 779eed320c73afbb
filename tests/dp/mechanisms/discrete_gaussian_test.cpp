#include "dp/mechanisms/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <boost/math/distributions/normal.hpp>

#include "base/error.h"
#include "tests/dp/chi_square.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

constexpr int kDraws = 400'000;

std::vector<std::int64_t> Draw(const DiscreteGaussian& gaussian, std::uint8_t seed) {
  auto stream = FixedStream(seed);
  std::vector<std::int64_t> samples(kDraws);
  gaussian.Sample(stream, samples);
  return samples;
}

class SmallVarianceTest : public testing::TestWithParam<int> {};

TEST_P(SmallVarianceTest, HasItsLaw) {
  const DiscreteGaussian gaussian(GetParam());
  ASSERT_EQ(gaussian.variance(), GetParam());
  // Values beyond 3.4 deviations (3 in 10,000 on each side) are counted together.
  const int reach = static_cast<int>(3.4 * std::sqrt(GetParam()));
  std::vector<double> probabilities(static_cast<std::size_t>(2 * reach + 1));
  double sum = 0;
  for (int x = -20 * reach; x <= 20 * reach; ++x) {
    const double weight = std::exp(-static_cast<double>(x) * x / (2.0 * GetParam()));
    probabilities[static_cast<std::size_t>(std::clamp(x, -reach, reach) + reach)] += weight;
    sum += weight;
  }
  for (auto& p : probabilities) p /= sum;

  std::vector<std::size_t> counts(probabilities.size());
  for (const auto x : Draw(gaussian, 21)) {
    ++counts[static_cast<std::size_t>(std::clamp<std::int64_t>(x, -reach, reach) + reach)];
  }

  ExpectFits(counts, probabilities, kDraws);
}

// 64 and 255 lie at the two ends of a scale; 100 and 1000 are neither squares of the scale nor powers.
INSTANTIATE_TEST_SUITE_P(Variances, SmallVarianceTest, testing::Values(64, 100, 127, 128, 255, 1000),
                         [](const auto& info) { return std::to_string(info.param); });

struct Large {
  const char* name;
  Uint256 variance;
};

class LargeVarianceTest : public testing::TestWithParam<Large> {};

TEST_P(LargeVarianceTest, IsNormalInTwoHundredCells) {
  const DiscreteGaussian gaussian(GetParam().variance);
  const boost::math::normal normal(0, std::sqrt(gaussian.variance().convert_to<double>()));
  std::vector<std::size_t> counts(200);
  for (const auto x : Draw(gaussian, 22)) {
    ++counts[std::min<std::size_t>(199, static_cast<std::size_t>(200 * cdf(normal, static_cast<double>(x))))];
  }
  ExpectFits(counts, std::vector<double>(200, 1.0 / 200), kDraws);
}

TEST_P(LargeVarianceTest, HasTheMomentsAndIsSymmetric) {
  const DiscreteGaussian gaussian(GetParam().variance);
  const double deviation = std::sqrt(gaussian.variance().convert_to<double>());
  double sum = 0, squares = 0, fourths = 0, tail = 0;
  int positive = 0;
  for (const auto x : Draw(gaussian, 23)) {
    const double z = static_cast<double>(x) / deviation;
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
    positive += x > 0;
    tail += std::abs(z) > 3;
  }
  // Five standard errors of each mean under the normal law: one seed in 1.7 million fails each.
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourths / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
  EXPECT_NEAR(positive, kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0) + 1);
  EXPECT_NEAR(tail, kDraws * 0.0026998, 5 * std::sqrt(kDraws * 0.0026998));
}

TEST_P(LargeVarianceTest, UsesEveryLowBit) {
  const DiscreteGaussian gaussian(GetParam().variance);
  std::vector<int> ones(16);
  for (const auto x : Draw(gaussian, 24)) {
    for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += static_cast<int>((x >> bit) & 1);
  }
  for (const int count : ones) EXPECT_NEAR(count, kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0));
}

TEST_P(LargeVarianceTest, RoundsTheVarianceUpByLittle) {
  const auto asked = GetParam().variance;
  const auto sampled = DiscreteGaussian(asked).variance();
  EXPECT_GE(sampled, asked);
  EXPECT_LE((sampled - asked) << 47, asked);
}

INSTANTIATE_TEST_SUITE_P(Variances, LargeVarianceTest,
                         testing::Values(Large{"two_to_40", Uint256{1} << 40},
                                         Large{"two_to_48_less_one", (Uint256{1} << 48) - 1},
                                         Large{"two_to_49_more_one", (Uint256{1} << 49) + 1},
                                         Large{"two_to_70", Uint256{1} << 70},
                                         Large{"two_to_71_less_one", (Uint256{1} << 71) - 1},
                                         Large{"three_times_two_to_95_more_one", (Uint256{3} << 95) + 1},
                                         Large{"two_to_96_less_one", (Uint256{1} << 96) - 1},
                                         Large{"the_largest", (Uint256{1} << 124) / 1600}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DiscreteGaussian, IsExactBelow48Bits) {
  for (const auto variance : {std::uint64_t{64}, std::uint64_t{12345}, (std::uint64_t{1} << 48) - 1}) {
    EXPECT_EQ(DiscreteGaussian(variance).variance(), variance);
  }
}

TEST(DiscreteGaussian, StatesADeviationNotAboveTheTrueOne) {
  EXPECT_EQ(DiscreteGaussian(64).deviation(), 8);
  EXPECT_EQ(DiscreteGaussian(Uint256{1} << 110).deviation(), std::ldexp(1.0, 55));
  for (unsigned bits = 7; bits < 113; ++bits) {
    const DiscreteGaussian gaussian((Uint256{1} << bits) + 12345);
    const Uint256 root(gaussian.deviation());
    EXPECT_LE(root * root, gaussian.variance());
    EXPECT_GT((root + 1 + (root >> 52)) * (root + 1 + (root >> 52)), gaussian.variance());
  }
}

TEST(DiscreteGaussian, KeepsProposalsWithTheRightProbability) {
  // Variance 100: scale 8, centre 12.5, exponent (m - 12.5)^2 / 200.
  const DiscreteGaussian gaussian(100);
  auto stream = FixedStream(25);
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{12}, std::uint64_t{25}, std::uint64_t{40}}) {
    int kept = 0;
    for (int i = 0; i < kDraws; ++i) kept += gaussian.AcceptsProposal(stream, magnitude);
    const double offset = static_cast<double>(magnitude) - 12.5;
    const double p = std::exp(-offset * offset / 200);
    EXPECT_NEAR(kept, kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p)));
  }
}

TEST(DiscreteGaussian, DoesNotOverflowOnAFarProposal) {
  // Magnitude 2^40 at scale 2^24 is lifted to 2^64 and the centre to 2^48: the square of their difference
  // needs more than 128 bits. One of 2^40 + 2^24 gives exactly 2^64, whose square is 0 modulo 2^128: kept
  // always, if it wrapped.
  const DiscreteGaussian gaussian(Uint256{1} << 48);
  auto stream = FixedStream(26);
  const std::uint64_t magnitude = (std::uint64_t{1} << 40) + (std::uint64_t{1} << 24);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(gaussian.AcceptsProposal(stream, magnitude));
}

TEST(DiscreteGaussian, RefusesTooLittleAndTooMuchNoise) {
  EXPECT_THROW(DiscreteGaussian(63), ConfigError);
  EXPECT_THROW(DiscreteGaussian(0), ConfigError);
  EXPECT_THROW(DiscreteGaussian((Uint256{1} << 124) / 1600 + 1), ConfigError);
  EXPECT_THROW(DiscreteGaussian(~Uint256{0}), ConfigError);
}

TEST(DiscreteGaussian, RepeatsForTheSameStream) {
  const DiscreteGaussian gaussian(Uint256{1} << 70);
  EXPECT_EQ(Draw(gaussian, 27), Draw(gaussian, 27));
}

}  // namespace
}  // namespace trefoil::dp

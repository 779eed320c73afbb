#include "dp/mechanisms/radial_laplace_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/dp/chi_square.h"
#include "tests/dp/stream.h"

namespace trefoil::dp {
namespace {

constexpr int kRadialDraws = 60'000;
constexpr std::size_t kCells = 40;
constexpr double kSensitivity = 3000;
constexpr double kEpsilon = 1.5;

/// The sum of `parts` independent parts, in scales.
std::vector<double> Sum(const RadialLaplacePart& part, RandomStream& stream, int parts,
                        std::size_t coordinates) {
  std::vector<double> sum(coordinates);
  std::vector<std::int64_t> one(coordinates);
  for (int k = 0; k < parts; ++k) {
    part.DrawLaw(stream).Sample(stream, one);
    for (std::size_t i = 0; i < coordinates; ++i) sum[i] += static_cast<double>(one[i]) / part.scale();
  }
  return sum;
}

double SquaredNorm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

std::size_t CellOf(double probability) {
  return std::min(kCells - 1, static_cast<std::size_t>(probability * static_cast<double>(kCells)));
}

// The density exp(-|x| / s) in d' dimensions: |x| / s has a gamma law of shape d', the direction is uniform,
// so that a coordinate's square over |x|^2 has a beta law of shapes 1/2 and (d' - 1)/2, with a fair sign. In
// 7 and 11 dimensions the law is the published one in all of them.
TEST(RadialLaplacePart, TwoPartsHaveThePublishedDensity) {
  for (const std::size_t dimensions : {7U, 11U}) {
    const RadialLaplacePart part(static_cast<std::int64_t>(dimensions), kSensitivity, kEpsilon);
    ASSERT_EQ(part.dimensions(), static_cast<std::int64_t>(dimensions));
    const auto d = static_cast<double>(dimensions);
    const boost::math::gamma_distribution<> norm(d);
    const boost::math::beta_distribution<> share(0.5, (d - 1) / 2);
    auto stream = FixedStream(3);
    std::vector<std::size_t> norms(kCells);
    std::vector<std::size_t> first(kCells);
    std::vector<std::size_t> signs(4);
    for (int k = 0; k < kRadialDraws; ++k) {
      const auto x = Sum(part, stream, 2, dimensions);
      const double squared = SquaredNorm(x);
      ++norms[CellOf(cdf(norm, std::sqrt(squared)))];
      ++first[CellOf(cdf(share, std::min(1.0, x[0] * x[0] / squared)))];
      ++signs[(x[0] > 0 ? 1U : 0U) + (x[dimensions - 1] > 0 ? 2U : 0U)];
    }
    const std::vector<double> alike(kCells, 1.0 / kCells);
    ExpectFits(norms, alike, kRadialDraws);
    ExpectFits(first, alike, kRadialDraws);
    ExpectFits(signs, std::vector<double>(4, 0.25), kRadialDraws);
  }
}

// Of fewer coordinates they are what a density in more dimensions has in these: with 5 of 7, the squared norm
// is the published one's times an independent beta of shapes 5/2 and 1, so of mean 5/7 d' (d' + 1).
TEST(RadialLaplacePart, FewerCoordinatesAreThoseOfAHigherDimension) {
  const RadialLaplacePart part(5, kSensitivity, kEpsilon);
  ASSERT_EQ(part.dimensions(), 7);
  auto stream = FixedStream(4);
  double two = 0;
  double three = 0;
  for (int k = 0; k < kRadialDraws; ++k) {
    two += SquaredNorm(Sum(part, stream, 2, 5));
    three += SquaredNorm(Sum(part, stream, 3, 5));
  }
  // The squared norm of d' = 7 has mean 56 and second moment 7 8 9 10 = 5040, so a deviation below 44. Five
  // standard errors each: a false alarm below one in a million (normal approximation).
  const double tolerance = 5 * 44 / std::sqrt(double{kRadialDraws});
  EXPECT_NEAR(two / kRadialDraws, 40, tolerance);
  EXPECT_NEAR(three / kRadialDraws, 60, 2 * tolerance);
}

TEST(RadialLaplacePart, ChargesTheEpsilonOfItsScaleAndWhatRoundingAdds) {
  for (const std::int64_t coordinates : {1, 7, 8, 124, 10'000}) {
    for (const double epsilon : {0.01, 1.0, 40.0}) {
      const RadialLaplacePart part(coordinates, 1e6, epsilon);
      EXPECT_LE(part.epsilon(), epsilon);
      EXPECT_GE(part.epsilon(), epsilon * (1 - 1e-6));
      EXPECT_GE(part.epsilon() * part.scale(), 1e6 * (1 - 1e-12));
      EXPECT_GE(part.dimensions(), coordinates);
      EXPECT_LE(part.dimensions(), std::max<std::int64_t>(7, coordinates + 3));
      EXPECT_GT(part.failure(), 0);
    }
  }
  // What a part is drawn by tells neighbours apart that what is charged does not.
  const RadialLaplacePart part(8, 3e9, 1);
  const RadialLaplacePart other(8, std::nextafter(3e9, 4e9), 1);
  EXPECT_EQ(part.failure(), other.failure());
  EXPECT_EQ(other.step_bits(), part.step_bits());
  EXPECT_GT(other.rate().denominator, part.rate().denominator);
  EXPECT_EQ(part.rate().numerator, 1U);
  EXPECT_EQ(part.step_bits(), 4U);  // 2 s^2 is below 2^64
  EXPECT_NEAR(static_cast<double>(part.rate().denominator) * 16 / 1.8e19, 1, 2e-12);
  // 2 sqrt(8/8) (3/2 / (2 (10^6)^2) + 2^-47): m = 3 exponential variables of mean 2 s^2, s = 10^6.
  EXPECT_NEAR(RadialLaplacePart(8, 1e6, 1).failure(), 2 * (1.5 / 2e12 + 0x1p-47), 1e-18);
  // Beyond 2^60 a step of the variance is more than a unit, and rounding no longer shrinks.
  EXPECT_NEAR(RadialLaplacePart(8, 1e11, 1).failure(), 2 * 0x1p-47, 2 * 3 * 0x1p-59);
}

TEST(RadialLaplacePart, HasTheVarianceOfItsExponentials) {
  // The smallest noise that is taken: 2^16 units squared.
  const RadialLaplacePart part(1, 181.1, 1);
  auto stream = FixedStream(5);
  double squares = 0;
  for (int k = 0; k < kRadialDraws; ++k) {
    const auto x = static_cast<double>(part.DrawLaw(stream).Sample(stream));
    squares += x * x;
  }
  // Two of mean 2 s^2. A square has variance 3 E[V^2] - E[V]^2, 3.5 of the mean's square here. Five standard
  // errors: a false alarm below one in a million (normal approximation).
  const double expected = 4 * part.scale() * part.scale();
  EXPECT_NEAR(squares / kRadialDraws, expected, 5 * std::sqrt(3.5 / kRadialDraws) * expected);
}

TEST(RadialLaplacePart, RefusesWhatItCannotHold) {
  EXPECT_THROW(RadialLaplacePart(0, 1e6, 1), ConfigError);
  EXPECT_THROW(RadialLaplacePart(5, 0, 1), ConfigError);
  EXPECT_THROW(RadialLaplacePart(5, 1e6, 0), ConfigError);
  EXPECT_THROW(RadialLaplacePart(5, 100, 1), ConfigError);           // below 2^16 units squared
  EXPECT_THROW(RadialLaplacePart(5, 0x1p50, 0x1p-10), ConfigError);  // beyond the ring
}

}  // namespace
}  // namespace trefoil::dp

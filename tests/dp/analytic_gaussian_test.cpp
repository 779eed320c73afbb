#include "dp/analytic_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/dp/shared_vectors.h"

namespace trefoil::dp {
namespace {

TEST(AnalyticGaussian, MatchesTheReference) {
  // Balle and Wang's algorithm with 40 digits, outside of this project; also in the shared vectors.
  EXPECT_NEAR(AnalyticGaussianEpsilon(1, 1e-5), 4.377178095681, 1e-11);
  EXPECT_NEAR(AnalyticGaussianEpsilon(2, 1e-5), 1.993091404415, 1e-11);
  EXPECT_NEAR(AnalyticGaussianEpsilon(4, 1e-6), 1.060701862328, 1e-11);
}

TEST(AnalyticGaussian, MatchesTheSharedVectors) {
  const auto vectors = SharedAccountingVectors();
  if (!vectors) GTEST_SKIP() << "no shared vectors: set TREFOIL_SHARED";
  for (const auto& row : vectors->at("analytic_gaussian")) {
    const double expected = row.at("epsilon");
    EXPECT_NEAR(AnalyticGaussianEpsilon(row.at("sigma"), row.at("delta")), expected, 1e-11 * expected) << row;
  }
}

TEST(AnalyticGaussian, FallsWithNoiseAndWithDelta) {
  double previous = std::numeric_limits<double>::infinity();
  for (double sigma = 0.001; sigma < 1e7; sigma *= 3) {
    const double epsilon = AnalyticGaussianEpsilon(sigma, 1e-9);
    EXPECT_GE(epsilon, 0);
    EXPECT_LE(epsilon, previous) << sigma;
    EXPECT_LE(AnalyticGaussianEpsilon(sigma, 1e-3), epsilon);
    EXPECT_GE(AnalyticGaussianEpsilon(sigma, 1e-300), epsilon);
    previous = epsilon;
  }
  EXPECT_EQ(AnalyticGaussianEpsilon(10, 0.5), 0);  // total variation 0.04
}

TEST(AnalyticGaussian, RefusesWhatIsOutsideItsDomain) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double sigma : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()})
    EXPECT_THROW((void)AnalyticGaussianEpsilon(sigma, 1e-5), ConfigError) << sigma;
  for (const double delta : {0.0, 1.0, kNan})
    EXPECT_THROW((void)AnalyticGaussianEpsilon(1, delta), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp

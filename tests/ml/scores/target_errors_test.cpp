#include "ml/scores/target_errors.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <vector>

#include "base/error.h"

namespace trefoil::ml {
namespace {

using Numbers = std::vector<double>;

TEST(TargetErrors, AreAsByHand) {
  const Numbers targets{1, 2, 3, 6};
  const Numbers predictions{1, 3, 3, 4};
  EXPECT_DOUBLE_EQ(RootMeanSquaredError(targets, predictions), std::sqrt(5.0 / 4));
  EXPECT_DOUBLE_EQ(*RSquared(targets, predictions), 1 - 5.0 / 14);
  EXPECT_EQ(RSquared(targets, targets), 1.0);
  EXPECT_EQ(RSquared(targets, Numbers(4, 3.0)), 0.0);  // their mean
  EXPECT_LT(*RSquared(targets, Numbers(4, 9.0)), 0);
  EXPECT_EQ(RSquared(Numbers(3, 0.1), Numbers{0.1, 0.2, 0.1}), std::nullopt);
  EXPECT_EQ(RSquared(Numbers{5}, Numbers{4}), std::nullopt);
  EXPECT_THROW((void)RSquared(targets, Numbers{1}), ContractError);
  EXPECT_THROW((void)RootMeanSquaredError({}, {}), ContractError);
}

/// For predictions by a line that is fitted to the targets R² is the square of the correlation.
TEST(TargetErrors, AgreeWithTheCorrelationOfAFittedLine) {
  std::mt19937_64 generator(23);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    Eigen::ArrayXd x(30);
    Eigen::ArrayXd y(30);
    for (Eigen::Index i = 0; i < 30; ++i) {
      x(i) = normal(generator);
      y(i) = 100 + 2 * x(i) + normal(generator) * trial / 10;
    }
    const double xy = ((x - x.mean()) * (y - y.mean())).sum();
    const double xx = (x - x.mean()).square().sum();
    const double yy = (y - y.mean()).square().sum();
    const Eigen::ArrayXd line = y.mean() + xy / xx * (x - x.mean());
    const Numbers targets(y.begin(), y.end());
    const Numbers predictions(line.begin(), line.end());
    EXPECT_NEAR(*RSquared(targets, predictions), xy * xy / (xx * yy), 1e-12);
    EXPECT_NEAR(RootMeanSquaredError(targets, predictions), std::sqrt((yy - xy * xy / xx) / 30), 1e-7);
  }
}

}  // namespace
}  // namespace trefoil::ml

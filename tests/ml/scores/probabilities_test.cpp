#include "ml/scores/probabilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace trefoil::ml {
namespace {

using Row = Eigen::RowVectorXd;

Row RowOf(std::initializer_list<double> values) {
  Row row(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), row.data());
  return row;
}

/// By the textbook's formula, in 64 bits of mantissa.
Row Plain(Loss loss, const Row& logits) {
  std::vector<long double> weights;
  if (logits.size() == 1) weights.push_back(1);
  for (const double z : logits)
    weights.push_back(loss == Loss::kSoftmax || logits.size() == 1
                          ? std::exp(static_cast<long double>(z))
                          : 1 / (1 + std::exp(-static_cast<long double>(z))));
  long double sum = 0;
  for (const auto weight : weights) sum += weight;
  Row probabilities(static_cast<Eigen::Index>(weights.size()));
  for (std::size_t k = 0; k < weights.size(); ++k)
    probabilities(static_cast<Eigen::Index>(k)) = static_cast<double>(weights[k] / sum);
  return probabilities;
}

TEST(LogProbabilities, AreThoseOfTheTextbook) {
  EXPECT_NEAR(std::exp(LogProbabilities(Loss::kOneVsRest, RowOf({std::log(3.0)}))(1)), 0.75, 1e-15);
  EXPECT_NEAR(std::exp(LogProbabilities(Loss::kSoftmax, RowOf({0, std::log(2.0), 0}))(1)), 0.5, 1e-15);
  // Sigmoids 1/2, 3/4, 1/4: a third, a half, a sixth.
  const auto three = LogProbabilities(Loss::kOneVsRest, RowOf({0, std::log(3.0), -std::log(3.0)}));
  EXPECT_NEAR(std::exp(three(2)), 1.0 / 6, 1e-15);
  std::mt19937_64 generator(19);
  std::normal_distribution<double> normal(0, 6);
  for (int trial = 0; trial < 300; ++trial) {
    const auto loss = trial % 2 == 0 ? Loss::kOneVsRest : Loss::kSoftmax;
    Row logits(1 + (trial % 5 == 0 ? 0 : trial % 4 + 1));
    for (double& z : logits) z = normal(generator);
    const Row found = LogProbabilities(loss, logits).array().exp();
    const Row expected = Plain(loss, logits);
    ASSERT_EQ(found.size(), logits.size() == 1 ? 2 : logits.size());
    EXPECT_NEAR(found.sum(), 1, 1e-14);
    for (Eigen::Index k = 0; k < found.size(); ++k) EXPECT_NEAR(found(k) / expected(k), 1, 1e-12);
  }
}

TEST(LogProbabilities, KeepTheirDigitsForLargeLogits) {
  const auto one = LogProbabilities(Loss::kOneVsRest, RowOf({60}));
  EXPECT_DOUBLE_EQ(one(0), -60 - std::log1p(std::exp(-60.0)));
  EXPECT_DOUBLE_EQ(one(1), -std::exp(-60.0));  // less than 1, though its exponential rounds to 1
  EXPECT_DOUBLE_EQ(LogProbabilities(Loss::kSoftmax, RowOf({50, 0, 0}))(0), -2 * std::exp(-50.0));
  EXPECT_LT(LogProbabilities(Loss::kSoftmax, RowOf({50, 0}))(0),
            LogProbabilities(Loss::kSoftmax, RowOf({51, 0}))(0));
  for (const double z : {-1e4, 1e4}) {
    for (const auto loss : {Loss::kOneVsRest, Loss::kSoftmax}) {
      EXPECT_TRUE(LogProbabilities(loss, RowOf({z})).allFinite());
      EXPECT_NEAR(LogProbabilities(loss, RowOf({-1e4, z, -1e4})).array().exp().sum(), 1, 1e-12);
    }
  }
  EXPECT_FALSE(HasProbabilities(Loss::kSquared));
  EXPECT_FALSE(HasProbabilities(Loss::kHuber));
  EXPECT_THROW((void)LogProbabilities(Loss::kSquared, RowOf({1})), ContractError);
  EXPECT_THROW((void)LogProbabilities(Loss::kSoftmax, RowOf({std::nan(""), 0})), ContractError);
}

TEST(LogLoss, IsTheMeanOfWhatIsTrue) {
  Eigen::MatrixXd logs(3, 2);
  logs << std::log(0.5), std::log(0.5), std::log(0.2), std::log(0.8), std::log(0.1), std::log(0.9);
  EXPECT_DOUBLE_EQ(LogLoss(logs, {0, 1, 0}), -(std::log(0.5) + std::log(0.8) + std::log(0.1)) / 3);
  EXPECT_THROW((void)LogLoss(logs, {0, 1}), ContractError);
  EXPECT_THROW((void)LogLoss(Eigen::MatrixXd(0, 2), {}), ContractError);
}

}  // namespace
}  // namespace trefoil::ml

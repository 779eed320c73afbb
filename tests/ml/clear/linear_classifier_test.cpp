#include "ml/clear/linear_classifier.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ml/clear/logistic_regression.h"

namespace trefoil::ml {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

OwnRecords NormalRecords(std::uint64_t seed, Index rows, Index features, int classes) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  OwnRecords records;
  records.x.resize(rows, features);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < features; ++k) records.x(i, k) = normal(generator);
    records.y.push_back(static_cast<int>(generator() % static_cast<std::uint64_t>(classes)));
  }
  return records;
}

/// The slopes of the squared objective at the model, term by term: p + 1 rows, a column a class.
MatrixXd Slopes(const OwnRecords& records, int classes, double lambda, const Model& model) {
  const Index features = records.x.cols();
  MatrixXd slopes(features + 1, model.weights.cols());
  slopes.topRows(features) = 2 * lambda * model.weights;
  slopes.bottomRows(1) = 2 * lambda * model.bias.transpose();
  const double count = static_cast<double>(records.x.rows());
  for (Index i = 0; i < records.x.rows(); ++i) {
    for (Index column = 0; column < slopes.cols(); ++column) {
      double score = model.bias(column);
      for (Index k = 0; k < features; ++k)
        score += static_cast<double>(records.x(i, k)) * model.weights(k, column);
      const int label = classes == 2 ? 1 : static_cast<int>(column);
      const double error = score - (records.y[static_cast<std::size_t>(i)] == label ? 1 : -1);
      for (Index k = 0; k < features; ++k)
        slopes(k, column) += 2 * error * static_cast<double>(records.x(i, k)) / count;
      slopes(features, column) += 2 * error / count;
    }
  }
  return slopes;
}

// Fewer records than weights and more, several tiles of 256, two classes and more, one record.
TEST(FitClassifier, IsWhereTheSquaredObjectiveIsFlat) {
  ThreadPool pool(2);
  struct Case {
    Index rows;
    Index features;
    int classes;
  };
  for (const auto& [rows, features, classes] :
       {Case{20, 5, 3}, Case{20, 5, 2}, Case{5, 20, 10}, Case{6, 5, 2}, Case{600, 300, 4}, Case{300, 600, 4},
        Case{1, 3, 2}}) {
    const auto records = NormalRecords(7, rows, features, classes);
    for (const double lambda : {1.0, 1e-3}) {
      const auto model = FitClassifier(records, classes, {.lambda = lambda}, pool);
      ASSERT_EQ(model.weights.rows(), features);
      ASSERT_EQ(model.weights.cols(), classes == 2 ? 1 : classes);
      ASSERT_EQ(model.bias.size(), model.weights.cols());
      EXPECT_LT(Slopes(records, classes, lambda, model).cwiseAbs().maxCoeff(), 1e-10);
    }
  }
}

TEST(FitClassifier, IsTheSameForAnyNumberOfThreads) {
  const auto records = NormalRecords(8, 400, 700, 5);
  ThreadPool one(1);
  ThreadPool four(4);
  const auto expected = FitClassifier(records, 5, {.lambda = 0.1}, one);
  const auto found = FitClassifier(records, 5, {.lambda = 0.1}, four);
  EXPECT_EQ(found.weights, expected.weights);
  EXPECT_EQ(found.bias, expected.bias);
}

TEST(FitClassifier, FitsALogisticRegressionForEachClass) {
  ThreadPool pool(1);
  const ClassifierSettings settings{.loss = ClassifierLoss::kOneVsRest, .lambda = 0.05, .tolerance = 1e-9};
  for (const int classes : {2, 3}) {
    const auto records = NormalRecords(9, 60, 4, classes);
    const auto model = FitClassifier(records, classes, settings, pool);
    ASSERT_EQ(model.weights.cols(), classes == 2 ? 1 : 3);
    for (Index column = 0; column < model.weights.cols(); ++column) {
      auto own = records;
      const int label = classes == 2 ? 1 : static_cast<int>(column);
      for (auto& y : own.y) y = y == label ? 1 : 0;
      const Eigen::VectorXd expected = FitLogistic(own, {.lambda = 0.05, .bias = true, .tolerance = 1e-9});
      EXPECT_EQ(model.weights.col(column), expected.head(4));
      EXPECT_EQ(model.bias(column), expected(4));
    }
  }
}

TEST(FitClassifier, TakesEveryRowForTheOnlyClassThereIs) {
  ThreadPool pool(1);
  for (const auto loss : {ClassifierLoss::kSquared, ClassifierLoss::kOneVsRest}) {
    for (const int classes : {2, 6}) {
      for (const int only : {0, 1}) {
        auto records = NormalRecords(10, 12, 3, classes);
        for (auto& y : records.y) y = only;
        const auto model = FitClassifier(records, classes, {.loss = loss, .lambda = 0.1}, pool);
        for (const auto& choice : Classify(model, records.x, pool)) EXPECT_EQ(choice.label, only);
      }
    }
  }
}

TEST(FitClassifier, RefusesWhatItCannotFit) {
  ThreadPool pool(1);
  const auto records = NormalRecords(11, 4, 2, 3);
  EXPECT_THROW((void)FitClassifier({}, 3, {.lambda = 1}, pool), ContractError);
  EXPECT_THROW((void)FitClassifier(records, 3, {.lambda = 0}, pool), ContractError);
  EXPECT_THROW((void)FitClassifier(records, 1, {.lambda = 1}, pool), ContractError);
  auto wrong = records;
  wrong.y[2] = 3;
  EXPECT_THROW((void)FitClassifier(wrong, 3, {.lambda = 1}, pool), ContractError);
}

// Equal rows of large numbers, and a penalty that is lost in them: which rows there are must not end a run.
TEST(FitClassifier, HasAResultWherePrecisionLosesThePenalty) {
  ThreadPool pool(1);
  for (const Index rows : {2, 5}) {
    OwnRecords equal;
    equal.x = FeatureRows::Constant(rows, 2, 1e9F);
    equal.y.assign(static_cast<std::size_t>(rows), 1);
    const auto model = FitClassifier(equal, 2, {.lambda = 1e-300}, pool);
    EXPECT_TRUE(model.weights.allFinite());
    if (rows > 2) continue;  // by the weights' equations
    for (const auto& choice : Classify(model, equal.x, pool)) EXPECT_EQ(choice.label, 1);
  }
}

TEST(Classify, TakesTheFirstLargestScoreAndItsDistanceToTheNext) {
  ThreadPool pool(3);
  Model model{.weights = MatrixXd::Identity(3, 3), .bias = Eigen::Vector3d(0, 0, 0.5)};
  FeatureRows x(3, 3);
  x << 1, 4, 2, 3, 3, 1, -1, -2, -9;
  const auto choices = Classify(model, x, pool);
  ASSERT_EQ(choices.size(), 3U);
  EXPECT_EQ(choices[0].label, 1);
  EXPECT_DOUBLE_EQ(choices[0].margin, 1.5);
  EXPECT_EQ(choices[1].label, 0);
  EXPECT_DOUBLE_EQ(choices[1].margin, 0);
  EXPECT_EQ(choices[2].label, 0);
  EXPECT_DOUBLE_EQ(choices[2].margin, 1);
  // One column: class 1 where it is above zero.
  model = {.weights = Eigen::Vector3d(1, 0, 0), .bias = Eigen::VectorXd::Constant(1, -2)};
  const auto two = Classify(model, x, pool);
  EXPECT_EQ(two[0].label, 0);
  EXPECT_DOUBLE_EQ(two[0].margin, 1);
  EXPECT_EQ(two[1].label, 1);
  EXPECT_DOUBLE_EQ(two[2].margin, 3);
  EXPECT_THROW((void)Classify(model, FeatureRows::Zero(1, 2), pool), ContractError);
}

}  // namespace
}  // namespace trefoil::ml

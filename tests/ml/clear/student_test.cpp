#include "ml/clear/student.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "ml/clear/logistic_regression.h"

namespace trefoil::ml {
namespace {

using Eigen::Index;

struct Public {
  FeatureRows x;
  std::vector<int> labels{};  ///< of every tenth row
};

/// Rows around one place a class.
Public PublicRecords(std::uint64_t seed, Index rows, int classes) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0, 0.45F);
  Public all{.x = FeatureRows(rows, 6)};
  for (Index i = 0; i < rows; ++i) {
    const int label = static_cast<int>(generator() % static_cast<std::uint64_t>(classes));
    all.labels.push_back(i % 10 == 0 ? label : kUnlabelled);
    for (Index k = 0; k < 6; ++k) all.x(i, k) = normal(generator) + (k == label ? 1.0F : 0.0F);
  }
  return all;
}

OwnRecords With(const Public& all, const std::vector<std::pair<Index, int>>& chosen) {
  OwnRecords records;
  records.x.resize(static_cast<Index>(chosen.size()), all.x.cols());
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    records.x.row(static_cast<Index>(k)) = all.x.row(chosen[k].first);
    records.y.push_back(chosen[k].second);
  }
  return records;
}

/// The definition, row by row.
Model Plain(const Public& all, int classes, const StudentSettings& settings, ThreadPool& pool) {
  std::vector<std::pair<Index, int>> answered;
  std::vector<Index> others;
  for (Index i = 0; i < all.x.rows(); ++i) {
    const int label = all.labels[static_cast<std::size_t>(i)];
    if (label == kUnlabelled) {
      others.push_back(i);
    } else {
      answered.emplace_back(i, label);
    }
  }
  auto model = FitClassifier(With(all, answered), classes, {.lambda = settings.lambda}, pool);
  for (int round = 1; round <= settings.rounds; ++round) {
    const auto choices = Classify(model, all.x, pool);
    std::vector<std::pair<double, Index>> order;
    for (const Index i : others) order.emplace_back(-choices[static_cast<std::size_t>(i)].margin, i);
    std::sort(order.begin(), order.end());
    order.resize(static_cast<std::size_t>(settings.keep * round / settings.rounds *
                                          static_cast<double>(others.size())));
    auto chosen = answered;
    for (const auto& [margin, i] : order) chosen.emplace_back(i, choices[static_cast<std::size_t>(i)].label);
    std::sort(chosen.begin(), chosen.end());
    model = FitClassifier(With(all, chosen), classes, {.lambda = settings.lambda}, pool);
  }
  return model;
}

TEST(TrainStudent, IsTrainedOnAnswersAndOnItsOwnSurestLabels) {
  ThreadPool pool(2);
  for (const int classes : {2, 4}) {
    const auto all = PublicRecords(3, 230, classes);
    for (const auto& settings : {StudentSettings{.lambda = 0.01, .rounds = 0, .keep = 1},
                                 StudentSettings{.lambda = 0.01, .rounds = 1, .keep = 1},
                                 StudentSettings{.lambda = 0.1, .rounds = 3, .keep = 0.9}}) {
      const auto expected = Plain(all, classes, settings, pool);
      const auto found = TrainStudent(all.x, all.labels, classes, settings, pool);
      EXPECT_EQ(found.weights, expected.weights);
      EXPECT_EQ(found.bias, expected.bias);
    }
  }
}

TEST(TrainStudent, TakesClassesThatNoAnswerHasForNoRow) {
  ThreadPool pool(1);
  auto all = PublicRecords(5, 100, 3);
  const auto model = TrainStudent(all.x, all.labels, 5, {.lambda = 0.01, .rounds = 2, .keep = 1}, pool);
  for (const auto& choice : Classify(model, all.x, pool)) EXPECT_LT(choice.label, 3);
}

TEST(TrainStudent, RefusesWhatItCannotBeTrainedOn) {
  ThreadPool pool(1);
  auto all = PublicRecords(5, 20, 3);
  const StudentSettings settings{.lambda = 0.1, .rounds = 1, .keep = 1};
  EXPECT_THROW((void)TrainStudent(all.x, {0, 1}, 3, settings, pool), ContractError);
  EXPECT_THROW((void)TrainStudent(all.x, all.labels, 3, {.lambda = 0.1, .rounds = 1, .keep = 1.5}, pool),
               ContractError);
  std::fill(all.labels.begin(), all.labels.end(), kUnlabelled);
  EXPECT_THROW((void)TrainStudent(all.x, all.labels, 3, settings, pool), ContractError);
}

TEST(TrainStudentSeconds, AreThoseOfTheClassifiersThatItFits) {
  const auto fit = [](std::int64_t rows) { return FitClassifierSeconds(rows, 40, 10, {.lambda = 0.1}, 1); };
  EXPECT_DOUBLE_EQ(TrainStudentSeconds(900, 40, 100, 10, {.lambda = 0.1}), fit(100));
  EXPECT_DOUBLE_EQ(TrainStudentSeconds(900, 40, 100, 10, {.lambda = 0.1, .rounds = 2, .keep = 0.5}),
                   fit(100) + fit(300) + fit(500));
  // The lesser of rows and weights makes the equations.
  EXPECT_NEAR(fit(200'000) / fit(100'000), 2, 1e-3);
  EXPECT_NEAR(FitClassifierSeconds(100, 200'000, 10, {.lambda = 0.1}, 1) /
                  FitClassifierSeconds(100, 100'000, 10, {.lambda = 0.1}, 1),
              2, 1e-3);
}

TEST(FitClassifierSeconds, AreOfAFitOfEachClassWithALogisticLoss) {
  const ClassifierSettings settings{.loss = ClassifierLoss::kOneVsRest, .lambda = 0.1, .tolerance = 1e-4};
  const LogisticSettings one{.lambda = 0.1, .bias = true, .tolerance = 1e-4};
  EXPECT_DOUBLE_EQ(FitClassifierSeconds(500, 40, 10, settings, 2), 10 * FitLogisticSeconds(500, 40, one, 2));
  EXPECT_DOUBLE_EQ(FitClassifierSeconds(500, 40, 2, settings, 2), FitLogisticSeconds(500, 40, one, 2));
  EXPECT_DOUBLE_EQ(FitLogisticSeconds(500, 40, one, 2) / SolverIterations(one, 2),
                   FitLogisticSeconds(500, 40, one, 1) / SolverIterations(one, 1));
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/clear/linear_classifier.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ml/clear/gram.h"
#include "ml/clear/logistic_regression.h"

namespace trefoil::ml {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::size_t kClassifiedATask = 64;  // a task of the pool
constexpr double kSecondsPerGramMultiplyAdd =
    0.41e-9;  // of two matrices, where three parties share two cores

/// Columns of signs: 1 for a record of the class, -1 for the others.
MatrixXd SignsOf(const std::vector<int>& y, int classes) {
  const bool two = classes == 2;
  MatrixXd signs = MatrixXd::Constant(static_cast<Index>(y.size()), two ? 1 : classes, -1.0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    Require(y[i] >= 0 && y[i] < classes, "FitClassifier: classes below their number");
    if (!two) signs(static_cast<Index>(i), y[i]) = 1;
    if (two && y[i] == 1) signs(static_cast<Index>(i), 0) = 1;
  }
  return signs;
}

/// Solves by the records' inner products where there are fewer records than weights, else by the weights'.
MatrixXd FitSquared(const OwnRecords& records, const MatrixXd& signs, double lambda, ThreadPool& pool) {
  const Index count = records.x.rows();
  const Index weights = records.x.cols() + 1;
  const bool by_records = count <= weights;
  MatrixXd basis(by_records ? weights : count, by_records ? count : weights);
  if (by_records) {
    basis.topRows(weights - 1) = records.x.transpose().cast<double>();
    basis.bottomRows(1).setOnes();
  } else {
    basis.leftCols(weights - 1) = records.x.cast<double>();
    basis.rightCols(1).setOnes();
  }
  // To refuse a penalty that is lost in double precision would be a function of the records, seen by others.
  double penalty = lambda * static_cast<double>(count);
  for (;;) {
    MatrixXd gram = GramOf(basis, pool);
    const double next = std::max(2 * penalty, 0x1p-40 * gram.trace());
    gram.diagonal().array() += penalty;
    const Eigen::LLT<Eigen::Ref<MatrixXd>> cholesky(gram);
    if (cholesky.info() == Eigen::Success && by_records) return basis * cholesky.solve(signs);
    if (cholesky.info() == Eigen::Success) return cholesky.solve(basis.transpose() * signs);
    penalty = next;
  }
}

MatrixXd FitOneVsRest(const OwnRecords& records, const MatrixXd& signs, const ClassifierSettings& settings) {
  MatrixXd weights(records.x.cols() + 1, signs.cols());
  OwnRecords one{.x = records.x, .y = records.y};
  for (Index column = 0; column < signs.cols(); ++column) {
    for (std::size_t i = 0; i < one.y.size(); ++i)
      one.y[i] = signs(static_cast<Index>(i), column) > 0 ? 1 : 0;
    weights.col(column) =
        FitLogistic(one, {.lambda = settings.lambda, .bias = true, .tolerance = settings.tolerance});
  }
  return weights;
}

}  // namespace

Model FitClassifier(const OwnRecords& records, int classes, const ClassifierSettings& settings,
                    ThreadPool& pool) {
  Require(records.x.rows() > 0 && records.y.size() == static_cast<std::size_t>(records.x.rows()),
          "FitClassifier: at least one record, and a class for each");
  Require(classes >= 2 && settings.lambda > 0 && settings.tolerance > 0,
          "FitClassifier: two classes or more, and positive settings");
  const MatrixXd signs = SignsOf(records.y, classes);
  const MatrixXd weights = settings.loss == ClassifierLoss::kSquared
                               ? FitSquared(records, signs, settings.lambda, pool)
                               : FitOneVsRest(records, signs, settings);
  return {.weights = weights.topRows(weights.rows() - 1), .bias = weights.bottomRows(1).transpose()};
}

double FitClassifierSeconds(std::int64_t records, std::int64_t features, int classes,
                            const ClassifierSettings& settings, double row_norm) {
  const int columns = classes == 2 ? 1 : classes;
  if (settings.loss == ClassifierLoss::kOneVsRest)
    return columns *
           FitLogisticSeconds(records, features,
                              {.lambda = settings.lambda, .bias = true, .tolerance = settings.tolerance},
                              row_norm);
  const auto count = static_cast<double>(records);
  const auto weights = static_cast<double>(features + 1);
  const double equations = std::min(count, weights);
  const double solved = equations * equations * equations / 6;
  return (count * weights * equations / 2 + solved) * kSecondsPerGramMultiplyAdd;
}

Choice ChoiceOf(const Eigen::Ref<const Eigen::RowVectorXd>& scores) {
  if (scores.size() == 1) return {.label = scores(0) > 0 ? 1 : 0, .margin = std::abs(scores(0))};
  Index best = 0;
  for (Index k = 1; k < scores.size(); ++k) {
    if (scores(k) > scores(best)) best = k;
  }
  double second = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < scores.size(); ++k) {
    if (k != best) second = std::max(second, scores(k));
  }
  return {.label = static_cast<int>(best), .margin = scores(best) - second};
}

std::vector<Choice> Classify(const Model& model, const FeatureRows& x, ThreadPool& pool) {
  Require(model.hidden.empty() && model.weights.rows() == x.cols(), "Classify: a linear model of the rows");
  std::vector<Choice> choices(static_cast<std::size_t>(x.rows()));
  pool.ParallelFor(choices.size(), kClassifiedATask, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Index>(begin);
    const auto count = static_cast<Index>(end - begin);
    MatrixXd scores = x.middleRows(first, count).cast<double>() * model.weights;
    scores.rowwise() += model.bias.transpose();
    for (Index row = 0; row < count; ++row)
      choices[begin + static_cast<std::size_t>(row)] = ChoiceOf(scores.row(row));
  });
  return choices;
}

}  // namespace trefoil::ml

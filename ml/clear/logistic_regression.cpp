#include "ml/clear/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace trefoil::ml {
namespace {

constexpr double kSecondsPerVectorMultiplyAdd = 0.9e-9;  // of a matrix and a vector, by memory

/// The rows in double precision, each times its sign, the constant included.
Eigen::MatrixXd SignedRows(const OwnRecords& records, bool bias) {
  Eigen::MatrixXd rows(records.rows(), records.features() + (bias ? 1 : 0));
  if (bias) rows.rightCols(1).setOnes();
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    rows.row(i).head(records.features()) = records.Row(i).cast<double>();
    const int label = records.y[static_cast<std::size_t>(i)];
    Require(label == 0 || label == 1, "FitLogistic: classes 0 and 1");
    if (label == 0) rows.row(i) *= -1;
  }
  return rows;
}

/// With the rows' part divided by `divisor`.
Eigen::VectorXd Gradient(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, double lambda,
                         double divisor) {
  const Eigen::ArrayXd slopes = 1 / (1 + (rows * weights).array().exp());
  return lambda * weights - rows.transpose() * slopes.matrix() / divisor;
}

/// The largest curvature over the least one, lambda, for rows whose squared norms are at most this.
double Condition(double square, double lambda) { return 1 + square / (4 * lambda); }

double IterationsAt(double condition, const LogisticSettings& settings) {
  const double logarithm = std::log(5 * std::sqrt(settings.lambda) / settings.tolerance);
  return 1 + std::ceil(2 * std::sqrt(condition) * std::max(0.0, logarithm));
}

}  // namespace

double LipschitzBound(double row_norm, bool bias) { return std::sqrt(row_norm * row_norm + (bias ? 1 : 0)); }

double SolverIterations(const LogisticSettings& settings, double row_norm) {
  const double bound = LipschitzBound(row_norm, settings.bias);
  return IterationsAt(Condition(bound * bound, settings.lambda), settings);
}

double FitLogisticSeconds(std::int64_t rows, std::int64_t features, const LogisticSettings& settings,
                          double row_norm) {
  const double products = 2 * std::min(SolverIterations(settings, row_norm), kMaxIterations);
  const auto weights = static_cast<double>(features + (settings.bias ? 1 : 0));
  return products * static_cast<double>(rows) * weights * kSecondsPerVectorMultiplyAdd;
}

double SolverGap(const LogisticSettings& settings, double row_norm, std::int64_t rows,
                 std::int64_t features) {
  // Iterates have norm 6.2 / sqrt(lambda) at most. A logit is off by `features` roundings of its terms, a
  // slope by a quarter of that and some roundings; a mean of `rows` terms of norm L by one rounding each; a
  // step by some of an iterate, times the curvature. Twice that, for what is of second order.
  const double unit = std::numeric_limits<double>::epsilon();
  const double bound = LipschitzBound(row_norm, settings.bias);
  const double width = static_cast<double>(features) + 1;
  const double reach = bound / std::sqrt(settings.lambda);
  const double roundings = static_cast<double>(rows) + (2 * width + 8) * reach + 32 / reach + 16;
  const double grown = 12 * std::sqrt(Condition(bound * bound, settings.lambda));
  return (settings.tolerance + grown * 2 * unit * bound * roundings) / settings.lambda;
}

Eigen::VectorXd FitLogistic(const OwnRecords& records, const LogisticSettings& settings,
                            std::int64_t min_rows) {
  Require(records.y.size() == static_cast<std::size_t>(records.rows()), "FitLogistic: a class for each row");
  Require(settings.lambda > 0 && settings.tolerance > 0, "FitLogistic: positive settings");
  const Eigen::MatrixXd rows = SignedRows(records, settings.bias);
  const auto divisor = static_cast<double>(std::max<std::int64_t>({rows.rows(), min_rows, 1}));
  const double square = rows.rows() > 0 ? rows.rowwise().squaredNorm().maxCoeff() : 0;
  const double condition = Condition(square, settings.lambda);
  const double smoothness = condition * settings.lambda;
  const double momentum = (std::sqrt(condition) - 1) / (std::sqrt(condition) + 1);
  const double iterations = std::min(IterationsAt(condition, settings), kMaxIterations);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(rows.cols());
  Eigen::VectorXd ahead = weights;
  for (double k = 0; k < iterations; ++k) {
    const Eigen::VectorXd gradient = Gradient(rows, ahead, settings.lambda, divisor);
    if (gradient.norm() <= settings.tolerance) break;
    const Eigen::VectorXd next = ahead - gradient / smoothness;
    ahead = next + momentum * (next - weights);
    weights = next;
  }
  return ahead;
}

}  // namespace trefoil::ml

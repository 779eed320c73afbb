#include "ml/logistic_regression.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.h"

namespace trefoil::ml {
namespace {

constexpr int kMostIterations = 100'000;

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

Eigen::VectorXd Gradient(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, double lambda) {
  const Eigen::ArrayXd slopes = 1 / (1 + (rows * weights).array().exp());
  return lambda * weights - rows.transpose() * slopes.matrix() / static_cast<double>(rows.rows());
}

}  // namespace

double LipschitzBound(double row_norm, bool bias) { return std::sqrt(row_norm * row_norm + (bias ? 1 : 0)); }

double SolverGap(const LogisticSettings& settings, double row_norm, std::int64_t rows,
                 std::int64_t features) {
  // A logit of magnitude L^2 / lambda at most is off by `features` roundings of it, a slope by a quarter of
  // that and some roundings; a mean of `rows` terms of norm L by one rounding each. Twice that, for the
  // sums' second order and for lambda w.
  const double unit = std::numeric_limits<double>::epsilon();
  const double bound = LipschitzBound(row_norm, settings.bias);
  const double width = static_cast<double>(features) + 1;
  const double roundings = static_cast<double>(rows) + width * bound * bound / settings.lambda + 16;
  return (settings.tolerance + 2 * unit * bound * roundings) / settings.lambda;
}

Eigen::VectorXd FitLogistic(const OwnRecords& records, const LogisticSettings& settings) {
  Require(records.rows() > 0 && records.y.size() == static_cast<std::size_t>(records.rows()),
          "FitLogistic: at least one row, and a class for each");
  Require(settings.lambda > 0 && settings.tolerance > 0, "FitLogistic: positive settings");
  const Eigen::MatrixXd rows = SignedRows(records, settings.bias);
  const double smoothness = rows.rowwise().squaredNorm().maxCoeff() / 4 + settings.lambda;
  const double root = std::sqrt(smoothness / settings.lambda);
  const double momentum = (root - 1) / (root + 1);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(rows.cols());
  Eigen::VectorXd ahead = weights;
  for (int k = 0; k < kMostIterations; ++k) {
    const Eigen::VectorXd gradient = Gradient(rows, ahead, settings.lambda);
    if (gradient.norm() <= settings.tolerance) return ahead;
    const Eigen::VectorXd next = ahead - gradient / smoothness;
    ahead = next + momentum * (next - weights);
    weights = next;
  }
  std::ostringstream text;
  text << "average.tolerance: found " << settings.tolerance << ", expected what " << kMostIterations
       << " iterations in double precision reach: a larger one, or a larger average.lambda";
  throw ConfigError(text.str());
}

}  // namespace trefoil::ml

#include "ml/scores/probabilities.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trefoil::ml {
namespace {

double LogSigmoid(double z) { return std::min(z, 0.0) - std::log1p(std::exp(-std::abs(z))); }

/// log(exp(w_k) / sum_j exp(w_j)). The largest exponential is 1 and stays out of the sum, which then keeps
/// its digits however small it is.
Eigen::RowVectorXd LogShares(const Eigen::RowVectorXd& w) {
  Eigen::Index top = 0;
  const double largest = w.maxCoeff(&top);
  double others = 0;
  for (Eigen::Index k = 0; k < w.size(); ++k) others += k == top ? 0 : std::exp(w(k) - largest);
  return (w.array() - largest) - std::log1p(others);
}

}  // namespace

bool HasProbabilities(Loss loss) { return loss == Loss::kOneVsRest || loss == Loss::kSoftmax; }

Eigen::RowVectorXd LogProbabilities(Loss loss, const Eigen::Ref<const Eigen::RowVectorXd>& logits) {
  Require(HasProbabilities(loss) && logits.allFinite(),
          "probabilities need finite logits of a loss that has them");
  if (logits.size() == 1) return Eigen::RowVector2d(LogSigmoid(-logits(0)), LogSigmoid(logits(0)));
  return LogShares(loss == Loss::kSoftmax ? Eigen::RowVectorXd(logits) : logits.unaryExpr(&LogSigmoid));
}

double LogLoss(const Eigen::MatrixXd& log_probabilities, const std::vector<int>& classes) {
  const auto rows = static_cast<std::size_t>(log_probabilities.rows());
  Require(rows > 0 && classes.size() == rows, "log-loss is of rows with a class each");
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row)
    sum -= log_probabilities(static_cast<Eigen::Index>(row), classes[row]);
  return sum / static_cast<double>(rows);
}

}  // namespace trefoil::ml

#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace trefoil::reference {

/// DP-SGD for one-vs-rest or multinomial logistic regression, the squared loss, Huber's or Poisson's in
/// double precision, one example at a time: what the secure training is compared with. Rows of x carry no
/// bias entry; a bias of 1 is appended.
struct PlainDpSgd {
  Eigen::MatrixXd weights;  ///< (p + 1) x c, zero at first
  double clip = 1;
  double learning_rate = 1;
  double expected_batch = 1;
  double momentum = 0;
  bool softmax = false;
  bool squared = false;
  bool poisson = false;                  ///< one column: e^(logit - 2), at most 1
  double huber = 0;                      ///< of squared: above 0, errors are clamped to +- that
  std::vector<double> class_weights{};   ///< none: all 1
  Eigen::MatrixXd velocity{};            ///< as the weights, zero at first
  std::vector<double> record_weights{};  ///< of the rows of a step; none: all 1

  [[nodiscard]] Eigen::VectorXd Predictions(const Eigen::VectorXd& logits) const {
    if (poisson) return (logits.array() - 2).min(0).exp();
    if (squared) return logits.array() + (logits.size() == 1 ? 0.5 : 0);
    if (!softmax) return logits.unaryExpr([](double z) { return 1 / (1 + std::exp(-z)); });
    const Eigen::VectorXd exponentials = (logits.array() - logits.maxCoeff()).exp();
    return exponentials / exponentials.sum();
  }

  /// The weight of the class that a row's targets say.
  [[nodiscard]] double WeightOf(const Eigen::VectorXd& targets) const {
    if (class_weights.empty()) return 1;
    Eigen::Index label = targets(0) == 1 ? 1 : 0;
    if (targets.size() > 1) targets.maxCoeff(&label);
    return class_weights.at(static_cast<std::size_t>(label));
  }

  /// One step on the given rows; `noise` is added to the sum of clipped gradients. `targets` is B x c of 0
  /// and 1. v <- momentum v + rate / b sum, then w <- w - v.
  void Step(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& targets, const Eigen::MatrixXd& noise) {
    Eigen::MatrixXd sum = noise;
    for (Eigen::Index j = 0; j < rows.rows(); ++j) {
      Eigen::VectorXd x(rows.cols() + 1);
      x << rows.row(j).transpose(), 1.0;
      const Eigen::VectorXd logits = weights.transpose() * x;
      const Eigen::VectorXd labels = targets.row(j).transpose();
      Eigen::VectorXd errors = Predictions(logits) - labels;
      if (huber > 0) errors = errors.array().max(-huber).min(huber).matrix().eval();
      errors *= WeightOf(labels);
      if (!record_weights.empty()) errors *= record_weights.at(static_cast<std::size_t>(j));
      const Eigen::MatrixXd gradient = x * errors.transpose();
      sum += gradient * std::min(1.0, clip / std::max(gradient.norm(), 1e-300));
    }
    if (velocity.size() == 0) velocity = Eigen::MatrixXd::Zero(weights.rows(), weights.cols());
    velocity = momentum * velocity + learning_rate / expected_batch * sum;
    weights -= velocity;
  }
};

}  // namespace trefoil::reference

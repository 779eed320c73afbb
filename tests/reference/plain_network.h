#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace trefoil::reference {

/// DP-SGD for a network of dense layers with cut rectifiers in double precision, one example and one layer at
/// a time: what the secure training is compared with. Rows carry no bias entry.
struct PlainNetwork {
  std::vector<Eigen::MatrixXd> weights;  ///< (inputs + 1) x outputs, the last row the biases
  double activation_bound = 8;
  double delta_bound = 4;
  double clip = 1;
  double learning_rate = 1;
  bool softmax = false;  ///< else one-vs-rest

  /// What one example does to a step: its layers' inputs with a 1, and the deltas of their outputs.
  struct Pass {
    std::vector<Eigen::VectorXd> inputs;
    std::vector<Eigen::VectorXd> deltas;

    [[nodiscard]] double Norm() const {
      double squared = 0;
      for (std::size_t l = 0; l < inputs.size(); ++l)
        squared += inputs[l].squaredNorm() * deltas[l].squaredNorm();
      return std::sqrt(squared);
    }
  };

  [[nodiscard]] Pass Run(const Eigen::VectorXd& row, const Eigen::VectorXd& target) const {
    Pass pass;
    std::vector<Eigen::VectorXd> outputs;
    Eigen::VectorXd at = row;
    for (const Eigen::MatrixXd& layer : weights) {
      Eigen::VectorXd input(at.size() + 1);
      input << at, 1.0;
      pass.inputs.push_back(input);
      outputs.push_back(layer.transpose() * input);
      at = outputs.back().cwiseMax(0.0).cwiseMin(activation_bound);
    }
    pass.deltas.resize(weights.size());
    pass.deltas.back() = Predictions(outputs.back()) - target;
    for (std::size_t l = weights.size() - 1; l > 0; --l) {
      Eigen::VectorXd back = weights[l].topRows(weights[l].rows() - 1) * pass.deltas[l];
      for (Eigen::Index k = 0; k < back.size(); ++k) {
        const double z = outputs[l - 1](k);
        back(k) = z >= 0 && z < activation_bound ? std::clamp(back(k), -delta_bound, delta_bound) : 0.0;
      }
      pass.deltas[l - 1] = back;
    }
    return pass;
  }

  /// `targets` is B x c of 0 and 1; the learning rate is of the sum.
  void Step(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& targets) {
    std::vector<Eigen::MatrixXd> updated = weights;
    for (Eigen::Index j = 0; j < rows.rows(); ++j) {
      const Pass pass = Run(rows.row(j).transpose(), targets.row(j).transpose());
      const double factor = std::min(1.0, clip / std::max(pass.Norm(), 1e-300));
      for (std::size_t l = 0; l < weights.size(); ++l)
        updated[l] -= learning_rate * factor * pass.inputs[l] * pass.deltas[l].transpose();
    }
    weights = updated;
  }

  [[nodiscard]] Eigen::VectorXd Predictions(const Eigen::VectorXd& logits) const {
    if (!softmax) return logits.unaryExpr([](double z) { return 1 / (1 + std::exp(-z)); });
    const Eigen::VectorXd exponentials = (logits.array() - logits.maxCoeff()).exp();
    return exponentials / exponentials.sum();
  }
};

}  // namespace trefoil::reference

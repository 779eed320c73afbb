#pragma once
#include <Eigen/Core>

#include "ml/training.h"

namespace trefoil::ml {

/// l2-regularised logistic regression on records in the clear, at their owner.
struct LogisticSettings {
  double lambda = 1;  ///< above 0
  bool bias = true;   ///< whether a constant 1 is the last column of every row; regularised like the others
  double tolerance = 1e-6;  ///< the gradient's norm where the solver stops
};

/// Weights w (p, then the bias where there is one) at which the gradient of
///   J(w) = 1/n sum_i log(1 + exp(-s_i <w, x_i>)) + lambda/2 |w|^2,   s_i = 1 for class 1 and -1 for class 0,
/// has norm `tolerance` at most, as computed; J is lambda-strongly convex, so w is within tolerance / lambda
/// of its minimiser. The published objective's lambda is half of this one. Accelerated gradient descent from
/// zero: some sqrt(1 + L^2 / (4 lambda)) log(1 / tolerance) products with the rows, L as LipschitzBound().
/// Pre:    at least one row; classes 0 and 1; settings positive.
/// Throws: ConfigError naming average.tolerance where double precision does not reach it.
/// Source: Pathak, Rane, Raj, "Multiparty differential privacy via aggregation of locally trained
///         classifiers" (2010), section 3.1; Nesterov, "Introductory lectures on convex optimization" (2004),
///         scheme 2.2.11.
[[nodiscard]] Eigen::VectorXd FitLogistic(const OwnRecords& records, const LogisticSettings& settings);

/// A row's norm with its constant 1 where there is a bias, at most: by how much the loss of one record grows
/// with the weights.
[[nodiscard]] double LipschitzBound(double row_norm, bool bias);

/// How far FitLogistic()'s weights are from the minimiser, at most: (tolerance + r) / lambda, with r what
/// rounding in double precision may add to the computed gradient of up to `rows` rows.
[[nodiscard]] double SolverGap(const LogisticSettings& settings, double row_norm, std::int64_t rows,
                               std::int64_t features);

}  // namespace trefoil::ml

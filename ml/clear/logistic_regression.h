#pragma once
#include <Eigen/Core>
#include <cstdint>

#include "ml/dpsgd/training.h"

namespace trefoil::ml {

/// l2-regularised logistic regression on records in the clear, at their owner.
struct LogisticSettings {
  double lambda = 1;  ///< above 0
  bool bias = true;   ///< whether a constant 1 is the last column of every row; regularised like the others
  double tolerance = 1e-6;  ///< the gradient's norm where the solver stops
};

/// Weights w (p, then the bias where there is one) near the minimiser of
///   J(w) = 1/m sum_i log(1 + exp(-s_i <w, x_i>)) + lambda/2 |w|^2,   s_i = 1 for class 1 and -1 for class 0,
/// m the larger of the number n of rows and `min_rows`: fewer rows count as that many, the missing ones
/// zero. Without a row and without least_rows w is zero. It stops where the gradient has norm `tolerance` at
/// most, as computed, and in any case after SolverIterations() of these rows: whatever they are there is a
/// result, within SolverGap() of the minimiser. The published objective's lambda is half of this one.
/// Accelerated gradient descent from zero. Pre: classes 0 and 1; settings positive, SolverIterations() at
/// most kMaxIterations.
/// Source: Pathak, Rane, Raj, "Multiparty differential privacy via aggregation of locally trained
///         classifiers" (2010), section 3.1; Nesterov, "Introductory lectures on convex optimization" (2004),
///         scheme 2.2.11; docs/explanation/privacy.md, "Averaged classifiers", for the gap.
[[nodiscard]] Eigen::VectorXd FitLogistic(const OwnRecords& records, const LogisticSettings& settings,
                                          std::int64_t min_rows = 0);

/// Of products with the rows that a fit takes: none takes more.
inline constexpr double kMaxIterations = 100'000;
/// How many suffice for rows of this norm and less; a job for which they are more than kMaxIterations has to
/// be refused before any rows are seen.
[[nodiscard]] double SolverIterations(const LogisticSettings& settings, double row_norm);

/// Computation of FitLogistic of so many rows of this norm at most, if it takes all SolverIterations(), on the
/// machine of docs/reference/performance.md.
[[nodiscard]] double FitLogisticSeconds(std::int64_t rows, std::int64_t features,
                                        const LogisticSettings& settings, double row_norm);

/// A row's norm with its constant 1 where there is a bias, at most: by how much the loss of one record grows
/// with the weights.
[[nodiscard]] double LipschitzBound(double row_norm, bool bias);

/// How far FitLogistic()'s weights are from the minimiser, at most: (tolerance + 12 sqrt(k) r) / lambda, with
/// r what rounding in double precision may add to a computed gradient of up to `rows` rows and to a step, and
/// k = 1 + L^2 / (4 lambda), L as LipschitzBound(). Source: docs/explanation/privacy.md, "Averaged
/// classifiers".
[[nodiscard]] double SolverGap(const LogisticSettings& settings, double row_norm, std::int64_t rows,
                               std::int64_t features);

}  // namespace trefoil::ml

#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/threads/thread_pool.h"
#include "ml/clear/linear_classifier.h"
#include "mpc/ring.h"

/// Least squares from sums over records: what an owner adds up, how much one record changes it, and how what was opened
/// of it with noise is solved. The proof is in docs/explanation/privacy.md, "Least squares".
namespace trefoil::ml {

/// What the sums are made of, all public.
struct SquaresShape {
  mpc::Index features = 0;
  mpc::Index outputs = 1;  ///< targets of a record
  int fraction_bits = 16;  ///< f, 8 to 24: rows, scaled to norm 1, and targets lie on a lattice of 2^-f

  /// Of a row with its constant.
  [[nodiscard]] mpc::Index entries() const { return features + 1; }
  /// Numbers of a sum: the products of a row's entries, each pair once, and of its entries and targets.
  [[nodiscard]] mpc::Index numbers() const { return entries() * (entries() + 1) / 2 + entries() * outputs; }
};

/// Targets of classes, a row a record: with two classes 1 for class 1 and -1 for the other, else 1 in the column of the
/// record's class. Pre: at least two classes, each of `y` from 0 to below their number.
[[nodiscard]] Eigen::MatrixXd ClassTargets(const std::vector<int>& y, int classes);

/// Targets that are numbers, each a number of steps of 2^-kTargetBits of their range's width: from -1 at its low end to 1.
/// Pre: each from 0 to 2^kTargetBits.
[[nodiscard]] Eigen::MatrixXd RangeTargets(const std::vector<int>& steps);

/// The sum over the records of their products, in integers: `numbers()` x 1. Rows are divided by `row_norm`; whatever
/// they and the targets are, what is longer than 1 then is shortened, and all is rounded towards zero on the lattice.
/// Cost: n p^2 multiplications. Pre: finite numbers, as many targets as rows; sums below 2^63 / LargestSquare() records;
/// not within a loop of `pool`.
[[nodiscard]] mpc::RingMatrix SumOfSquares(const SquaresShape& shape, const Rows& x, double row_norm,
                                           const Eigen::MatrixXd& targets, ThreadPool& pool);

/// The most that one record adds to such a sum, whatever it is, L2 and in the sum's units: rounded up.
[[nodiscard]] std::uint64_t SquaresSensitivity(int fraction_bits);
/// The same for any one number of it.
[[nodiscard]] std::uint64_t LargestSquare(int fraction_bits);

/// What is added to each square before the equations of `shape` are solved, for noise of `deviation` on each number
/// (SumOfSquares' units): half the largest eigenvalue of the noise, by its law. In the scale of rows of norm 1.
[[nodiscard]] double RidgeFor(const SquaresShape& shape, double deviation);

/// The linear model of what was opened: the products with eigenvalues below zero set to zero, plus RidgeFor, solved.
/// A logit is a target; where there is one output alone half of it, as of DP-SGD's squared loss: from -1/2 to 1/2.
/// Its deviations are of its difference from what the same records and ridge give without noise, to first order in the
/// noise, with the intercept at the row `origin` (as long as it is: not shortened); none where the noise is as large as
/// the equations (docs/explanation/privacy.md, "Least squares").
/// Cost: about 14 p^3 multiplications, one thread. Pre: `opened` has numbers() x 1; deviation > 0; `origin` has as many
/// numbers as the shape features.
[[nodiscard]] Model SolveSquares(const SquaresShape& shape, const mpc::RingMatrix& opened, double row_norm,
                                 double deviation, const Eigen::VectorXd& origin);

}  // namespace trefoil::ml

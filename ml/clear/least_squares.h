#pragma once
#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "base/threads/thread_pool.h"
#include "dp/record/promise.h"
#include "ml/clear/linear_classifier.h"
#include "mpc/ring.h"

/// Least squares from sums over records: what an owner adds up, how much one record changes it, and how what
/// was opened of it with noise is solved. The proof is in docs/explanation/privacy.md, "Least squares".
namespace trefoil::ml {

inline constexpr std::uint64_t kLargestUnit = std::uint64_t{1}
                                              << 28;  ///< of it the sensitivity's square is exact

/// What the sums are made of, all public.
struct SquaresShape {
  mpc::Index features = 0;
  mpc::Index outputs = 1;                       ///< targets of a record
  std::uint64_t unit = std::uint64_t{1} << 16;  ///< N, even, at most kLargestUnit: norm 1 of rows and targets

  /// Of a row with its constant.
  [[nodiscard]] mpc::Index entries() const { return features + 1; }
  /// Numbers of a sum: the products of a row's entries, each pair once, and of its entries and targets.
  [[nodiscard]] mpc::Index numbers() const { return entries() * (entries() + 1) / 2 + entries() * outputs; }
};

/// Targets of classes, a row a record: with two classes 1 for class 1 and -1 for the other, else 1 in the
/// column of the record's class. Pre: at least two classes, each of `y` from 0 to below their number.
[[nodiscard]] Eigen::MatrixXd ClassTargets(const std::vector<int>& y, int classes);

/// Targets that are numbers, each a number of steps of 2^-kTargetBits of their range's width: from -1 at its
/// low end to 1.
/// Pre: each from 0 to 2^kTargetBits.
[[nodiscard]] Eigen::MatrixXd RangeTargets(const std::vector<int>& steps);

/// The sum over the records of their products, in integers: `numbers()` x 1. Rows are divided by `row_norm`;
/// whatever they and the targets are, what is longer than 1 then is shortened, and all is rounded towards
/// zero to units of 1/N.
/// Cost: n p^2 multiplications. Pre: N = 2^f with f from 8 to 24; finite numbers, as many targets as rows;
/// sums below 2^63 / LargestSquare() records; not within a loop of `pool`.
[[nodiscard]] mpc::RingMatrix SumOfSquares(const SquaresShape& shape, const FeatureRows& x, double row_norm,
                                           const Eigen::MatrixXd& targets, ThreadPool& pool);

/// Who holds what, where every party has columns of the same rows.
struct SquaresColumns {
  std::array<mpc::Index, 3> features{};  ///< of each party; theirs in this order make a row
  int target_party = 0;                  ///< who holds the targets

  /// Numbers of a row that a party has: its columns, and with the targets also the row's constant before
  /// them.
  [[nodiscard]] mpc::Index width(const SquaresShape& shape, int party) const {
    return features.at(static_cast<std::size_t>(party)) + (party == target_party ? 1 + shape.outputs : 0);
  }
};

/// One party's numbers of all rows as SumOfSquares makes them, `height` x its width; rows beyond its own are
/// zeros. Its columns are shortened to the root of their share of all columns in place of 1, so that whatever
/// the three have, a row's squares add up to 1 at most. `targets`: empty at a party without. Pre: N as for
/// SumOfSquares; as many rows as targets, `height` at most; finite.
[[nodiscard]] mpc::RingMatrix EncodeColumns(const SquaresShape& shape, const SquaresColumns& columns,
                                            int party, const FeatureRows& x, double row_norm,
                                            const Eigen::MatrixXd& targets, mpc::Index height,
                                            ThreadPool& pool);

/// A sum as SumOfSquares makes it, of the products of a row's entries with its entries and, behind these, its
/// targets, entries() x (entries() + outputs), modulo 2^64.
[[nodiscard]] mpc::RingMatrix SumOfProducts(const SquaresShape& shape, const mpc::RingMatrix& products);

/// The most that one record changes such a sum by, whatever it is, L2 and in the sum's units, rounded up:
/// added or removed, or replaced by another, in part or as a whole. Pre: a shape's unit.
[[nodiscard]] std::uint64_t SquaresSensitivity(std::uint64_t unit,
                                               dp::Neighbours neighbours = dp::Neighbours::kAdded);
/// The most that one record adds to any one number of it.
[[nodiscard]] std::uint64_t LargestSquare(std::uint64_t unit);

/// What is added to each square before the equations of `shape` are solved, for noise of `deviation` on each
/// number (SumOfSquares' units): half the largest eigenvalue of the noise, by its law. In the scale of rows
/// of norm 1.
[[nodiscard]] double RidgeFor(const SquaresShape& shape, double deviation);

/// The linear model of what was opened: the products with eigenvalues below zero set to zero, plus RidgeFor,
/// solved. A logit is a target; where there is one output alone half of it, as of DP-SGD's squared loss: from
/// -1/2 to 1/2. Its deviations are of its difference from what the same records and ridge give without noise,
/// to first order in the noise, with the intercept at the row `origin` (as long as it is: not shortened);
/// none where the noise is as large as the equations (docs/explanation/privacy.md, "Least squares").
/// Cost: about 14 p^3 multiplications, one thread (SolveSquaresSeconds). Pre: `opened` has numbers() x 1;
/// deviation > 0; `origin` has as many numbers as the shape features.
[[nodiscard]] Model SolveSquares(const SquaresShape& shape, const mpc::RingMatrix& opened, double row_norm,
                                 double deviation, const Eigen::VectorXd& origin);

/// Computation of SolveSquares on the machine of docs/reference/performance.md.
[[nodiscard]] double SolveSquaresSeconds(const SquaresShape& shape);

}  // namespace trefoil::ml

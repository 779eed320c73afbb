#include "ml/clear/least_squares.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "dp/mechanisms/bernoulli.h"
#include "ml/clear/gram.h"
#include "ml/noise/noisy_sum.h"
#include "ml/plan/settings.h"

namespace trefoil::ml {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

// A product of two different entries stands twice in the matrix of products and once in the sum, scaled by
// next to sqrt(2): 41^2 = 1681 <= 2 * 29^2 = 1682.
constexpr std::int64_t kScale = 29;
constexpr std::int64_t kScaleOfPairs = 41;

// A row's constant, where the row has norm 1 at most: a smaller one costs less noise, and its weight more of
// the ridge.
constexpr double kConstant = 0.5;

// Of eigenvalues, in double precision, where three parties share two cores.
constexpr double kSecondsPerSolvedMultiply = 0.25e-9;
constexpr std::size_t kRowsOfATask = 64;  // a task of the pool
constexpr Index kRowsOfABlock = 1024;     // rows of a product

/// A block's rows with their constants and its targets, in whole numbers of the lattice.
struct Block {
  MatrixXd rows;
  MatrixXd targets;
};

/// `vector` shortened to `norm` units of the lattice, as whole numbers, into a row of doubles or words.
template <typename Row>
void Encode(const VectorXd& vector, int fraction_bits, std::uint64_t norm, std::vector<std::int64_t>& whole,
            Row&& row) {
  const auto size = static_cast<std::size_t>(vector.size());
  whole.resize(size);
  EncodeBounded({vector.data(), size}, fraction_bits, norm, whole);
  using Number = typename std::decay_t<Row>::Scalar;
  for (std::size_t k = 0; k < size; ++k) row(static_cast<Index>(k)) = static_cast<Number>(whole[k]);
}

/// f, where N = 2^f.
int FractionBits(const SquaresShape& shape) {
  Require(std::has_single_bit(shape.unit), "SquaresShape: a power of two");
  return std::countr_zero(shape.unit);
}

/// The constant of a row, in whole numbers.
std::uint64_t ConstantOf(const SquaresShape& shape) { return shape.unit / 2; }

Block BlockOf(const SquaresShape& shape, const Eigen::Ref<const FeatureRows>& x, double row_norm,
              const Eigen::Ref<const MatrixXd>& targets, ThreadPool& pool) {
  Block block{.rows = MatrixXd(x.rows(), shape.entries()), .targets = MatrixXd(x.rows(), shape.outputs)};
  block.rows.rightCols(1).setConstant(static_cast<double>(ConstantOf(shape)));
  const int bits = FractionBits(shape);
  pool.ParallelFor(static_cast<std::size_t>(x.rows()), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> whole;
    for (auto row = static_cast<Index>(begin); row < static_cast<Index>(end); ++row) {
      Encode(x.row(row).transpose().cast<double>() / row_norm, bits, shape.unit, whole,
             block.rows.row(row).head(shape.features));
      Encode(targets.row(row).transpose(), bits, shape.unit, whole, block.targets.row(row));
    }
  });
  return block;
}

/// The pairs of a matrix's entries (j, k), k <= j, and their place in a sum, one after the other.
template <typename Visit>
void ForEachPair(const SquaresShape& shape, const Visit& visit) {
  Index place = 0;
  for (Index j = 0; j < shape.entries(); ++j) {
    for (Index k = 0; k <= j; ++k) visit(j, k, place++);
  }
}

std::int64_t ScaleOf(Index j, Index k) { return j == k ? kScale : kScaleOfPairs; }

void AddBlock(const SquaresShape& shape, const Block& block, ThreadPool& pool, RingMatrix& sum) {
  MatrixXd products(shape.entries(), shape.entries() + shape.outputs);
  products << GramOf(block.rows, pool), block.rows.transpose() * block.targets;
  sum += SumOfProducts(shape, products.array().cast<std::int64_t>().cast<Word>());
}

/// The largest norm, in units of the lattice, that a party's columns of a row may have so that all three
/// together have norm 1: the root of its share of the columns, as BlockNorms, rounded down exactly.
std::uint64_t NormOfPart(const SquaresShape& shape, Index columns) {
  const auto wanted = static_cast<dp::Uint128>(static_cast<std::uint64_t>(columns)) * shape.unit * shape.unit;
  const auto all = static_cast<std::uint64_t>(shape.features);
  auto norm = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(columns) / static_cast<double>(all)) *
                                         static_cast<double>(shape.unit));
  while (static_cast<dp::Uint128>(norm) * norm * all > wanted) --norm;
  return norm;
}

/// About the norm of the noise on squares, once it and the equations are scaled so that these are 1 (Bandeira
/// and van Handel 2016, Theorem 1.1, its first term); `noise` is that of one square.
double RelativeNoise(const VectorXd& inverse, double noise) {
  return noise * std::sqrt(2 * inverse.maxCoeff() * inverse.sum());
}

/// Of v^T (e - E w) for each column v of `solved` (rows) and w of `weights` (columns), with noise E on the
/// products of entries and e on those with targets; `noise` as above.
MatrixXd DeviationsOf(const MatrixXd& solved, const MatrixXd& weights, double noise) {
  const double of_pair = noise * kScale / kScaleOfPairs;
  MatrixXd variances(solved.cols(), weights.cols());
  for (Index k = 0; k < weights.cols(); ++k) {
    const auto w = weights.col(k).array();
    // Of (e - E w)_j: e, E_jj w_j and all E_jl w_l; two of them share E_jl.
    const VectorXd alone = noise * noise + of_pair * of_pair * w.square().sum() +
                           (noise * noise - 2 * of_pair * of_pair) * w.square();
    variances.col(k) = solved.array().square().matrix().transpose() * alone +
                       of_pair * of_pair * (solved.transpose() * weights.col(k)).array().square().matrix();
  }
  return variances.cwiseSqrt();
}

}  // namespace

MatrixXd ClassTargets(const std::vector<int>& y, int classes) {
  const bool two = classes == 2;
  MatrixXd targets = MatrixXd::Constant(static_cast<Index>(y.size()), two ? 1 : classes, two ? -1 : 0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    Require(y[i] >= 0 && y[i] < classes, "ClassTargets: classes below their number");
    if (!two) targets(static_cast<Index>(i), y[i]) = 1;
    if (two && y[i] == 1) targets(static_cast<Index>(i), 0) = 1;
  }
  return targets;
}

MatrixXd RangeTargets(const std::vector<int>& steps) {
  MatrixXd targets(static_cast<Index>(steps.size()), 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Require(steps[i] >= 0 && steps[i] <= 1 << kTargetBits, "RangeTargets: steps within the range");
    targets(static_cast<Index>(i), 0) = std::ldexp(steps[i], 1 - kTargetBits) - 1;
  }
  return targets;
}

RingMatrix SumOfSquares(const SquaresShape& shape, const FeatureRows& x, double row_norm,
                        const MatrixXd& targets, ThreadPool& pool) {
  Require(x.rows() == targets.rows() && targets.cols() == shape.outputs &&
              (x.rows() == 0 || x.cols() == shape.features),
          "SumOfSquares: rows and targets of the shape");
  // Of so many rows every sum of products is an integer of at most 2^53, which doubles have.
  const Index block = std::min(kRowsOfABlock, Index{1} << (53 - 2 * FractionBits(shape)));
  RingMatrix sum = RingMatrix::Zero(shape.numbers(), 1);
  for (Index first = 0; first < x.rows(); first += block) {
    const Index rows = std::min(block, x.rows() - first);
    AddBlock(shape,
             BlockOf(shape, x.middleRows(first, rows), row_norm, targets.middleRows(first, rows), pool), pool,
             sum);
  }
  return sum;
}

RingMatrix EncodeColumns(const SquaresShape& shape, const SquaresColumns& columns, int party,
                         const FeatureRows& x, double row_norm, const MatrixXd& targets, Index height,
                         ThreadPool& pool) {
  const Index own = columns.features.at(static_cast<std::size_t>(party));
  const bool has_targets = party == columns.target_party;
  Require(
      x.cols() == own && x.rows() <= height &&
          (has_targets ? targets.rows() == x.rows() && targets.cols() == shape.outputs : targets.size() == 0),
      "EncodeColumns: columns and targets of the party");
  RingMatrix numbers = RingMatrix::Zero(height, columns.width(shape, party));
  const std::uint64_t norm = NormOfPart(shape, own);
  const int bits = FractionBits(shape);
  pool.ParallelFor(static_cast<std::size_t>(x.rows()), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> whole;
    for (auto row = static_cast<Index>(begin); row < static_cast<Index>(end); ++row) {
      Encode(x.row(row).transpose().cast<double>() / row_norm, bits, norm, whole, numbers.row(row).head(own));
      if (!has_targets) continue;
      numbers(row, own) = ConstantOf(shape);
      Encode(targets.row(row).transpose(), bits, shape.unit, whole, numbers.row(row).tail(shape.outputs));
    }
  });
  return numbers;
}

RingMatrix SumOfProducts(const SquaresShape& shape, const RingMatrix& products) {
  Require(products.rows() == shape.entries() && products.cols() == shape.entries() + shape.outputs,
          "SumOfProducts: products of the shape");
  RingMatrix sum(shape.numbers(), 1);
  ForEachPair(shape, [&](Index j, Index k, Index place) {
    sum(place, 0) = products(j, k) * static_cast<Word>(ScaleOf(j, k));
  });
  Index place = shape.numbers() - shape.entries() * shape.outputs;
  for (Index j = 0; j < shape.entries(); ++j) {
    for (Index k = 0; k < shape.outputs; ++k)
      sum(place++, 0) = products(j, shape.entries() + k) * static_cast<Word>(kScale);
  }
  return sum;
}

// With entries of norm N, a constant N/2 and targets of norm N, X^2 = 5/4 N^2: added 29^2 (X^4 + X^2 N^2),
// replaced 29^2 (2 X^4 + 2 X^2 N^2 + N^4/2). In units of (N/2)^4 these are 45 and 98 times 29^2.
std::uint64_t SquaresSensitivity(std::uint64_t unit, dp::Neighbours neighbours) {
  Require(unit > 0 && unit % 2 == 0 && unit <= kLargestUnit, "SquaresSensitivity: an even unit up to 2^28");
  const std::uint64_t square = kScale * kScale * (neighbours == dp::Neighbours::kAdded ? 45 : 98);
  const std::uint64_t quarter = (unit / 2) * (unit / 2);
  const dp::Uint128 wanted = static_cast<dp::Uint128>(square) * quarter * quarter;
  auto units =
      static_cast<std::uint64_t>(std::sqrt(static_cast<double>(square)) * static_cast<double>(quarter));
  while (static_cast<dp::Uint128>(units) * units < wanted) ++units;
  return units;
}

// Of two different entries the product is at most N^2/2, and 41/2 < 29.
std::uint64_t LargestSquare(std::uint64_t unit) { return std::uint64_t{kScale} * unit * unit; }

double RidgeFor(const SquaresShape& shape, double deviation) {
  const double of_square = deviation / static_cast<double>(LargestSquare(shape.unit));
  return of_square * std::sqrt(static_cast<double>(shape.entries()) / 2);
}

Model SolveSquares(const SquaresShape& shape, const RingMatrix& opened, double row_norm, double deviation,
                   const VectorXd& origin) {
  Require(opened.rows() == shape.numbers() && opened.cols() == 1 && deviation > 0 &&
              origin.size() == shape.features,
          "SolveSquares: a sum of the shape, with noise, and a row");
  const double square_of_one = static_cast<double>(shape.unit) * static_cast<double>(shape.unit);
  const auto number = [&](Index place, std::int64_t scale) {
    return static_cast<double>(mpc::Signed(opened(place, 0))) / static_cast<double>(scale) / square_of_one;
  };
  MatrixXd squares(shape.entries(), shape.entries());
  ForEachPair(shape, [&](Index j, Index k, Index place) { squares(j, k) = number(place, ScaleOf(j, k)); });
  MatrixXd products(shape.entries(), shape.outputs);
  Index place = shape.numbers() - products.size();
  for (Index j = 0; j < products.rows(); ++j) {
    for (Index k = 0; k < products.cols(); ++k) products(j, k) = number(place++, kScale);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(squares);  // reads the lower triangle
  Require(solver.info() == Eigen::Success, "SolveSquares: eigenvalues of finite numbers");
  const VectorXd inverse =
      (solver.eigenvalues().cwiseMax(0.0).array() + RidgeFor(shape, deviation)).inverse();
  const MatrixXd weights =
      solver.eigenvectors() * (inverse.asDiagonal() * (solver.eigenvectors().transpose() * products));
  const double logit = shape.outputs == 1 ? 0.5 : 1;
  Model model{.weights = weights.topRows(shape.features) * (logit / row_norm),
              .bias = kConstant * logit * weights.bottomRows(1).transpose()};
  const double noise = deviation / static_cast<double>(LargestSquare(shape.unit));
  if (RelativeNoise(inverse, noise) > 1) return model;
  // Of each weight, and of the logit at the origin.
  MatrixXd wanted = MatrixXd::Identity(shape.entries(), shape.entries()) * (logit / row_norm);
  wanted.rightCols(1) << origin * (logit / row_norm), kConstant * logit;
  const MatrixXd solved =
      solver.eigenvectors() * (inverse.asDiagonal() * (solver.eigenvectors().transpose() * wanted));
  const MatrixXd deviations = DeviationsOf(solved, weights, noise);
  model.deviations = {.weights = deviations.topRows(shape.features),
                      .intercept = deviations.bottomRows(1).transpose()};
  return model;
}

double SolveSquaresSeconds(const SquaresShape& shape) {
  const auto entries = static_cast<double>(shape.entries());
  return 14 * entries * entries * entries * kSecondsPerSolvedMultiply;
}

}  // namespace trefoil::ml

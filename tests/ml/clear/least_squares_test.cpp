#include "ml/clear/least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/settings.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct Data {
  FeatureRows x;
  MatrixXd targets;
};

Data Normal(const SquaresShape& shape, Index rows, double size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, size);
  Data data{.x = FeatureRows(rows, shape.features), .targets = MatrixXd(rows, shape.outputs)};
  for (Index k = 0; k < data.x.size(); ++k) data.x.data()[k] = static_cast<float>(normal(random));
  for (Index k = 0; k < data.targets.size(); ++k) data.targets.data()[k] = normal(random);
  return data;
}

RingMatrix SumOf(const SquaresShape& shape, const Data& data, double row_norm = 1) {
  ThreadPool pool(2);
  return SumOfSquares(shape, data.x, row_norm, data.targets, pool);
}

// ---- How much one record adds: searched for a violation, in exact integers.

dp::Uint256 SquaresOf(const RingMatrix& sum) {
  dp::Uint256 squares = 0;
  for (Index k = 0; k < sum.size(); ++k) {
    const auto magnitude = static_cast<std::uint64_t>(std::abs(mpc::Signed(sum.data()[k])));
    squares += dp::Uint256(magnitude) * magnitude;
  }
  return squares;
}

/// Of the bound, squared.
double ShareOfBound(const SquaresShape& shape, const Data& record, double row_norm) {
  const auto sum = SumOf(shape, record, row_norm);
  const dp::Uint256 bound = SquaresSensitivity(shape.unit);
  const auto squares = SquaresOf(sum);
  EXPECT_LE(squares, bound * bound);
  for (Index k = 0; k < sum.size(); ++k)
    EXPECT_LE(std::abs(mpc::Signed(sum.data()[k])), static_cast<std::int64_t>(LargestSquare(shape.unit)));
  return squares.convert_to<double>() / (bound * bound).convert_to<double>();
}

/// One record of numbers like this one, alone, in all places, or in one and a bit.
std::vector<Data> Adversarial(const SquaresShape& shape, double length) {
  std::vector<Data> records(
      4, {.x = FeatureRows::Zero(1, shape.features), .targets = MatrixXd::Zero(1, shape.outputs)});
  const auto spread = static_cast<float>(length / std::sqrt(static_cast<double>(shape.features)));
  records[0].x.setConstant(spread);
  records[1].x(0, 0) = static_cast<float>(-length);
  records[2].x.setConstant(std::numeric_limits<float>::denorm_min());
  records[2].x(0, shape.features - 1) = static_cast<float>(length);
  for (Index k = 0; k < shape.features; ++k) records[3].x(0, k) = k % 2 == 0 ? spread : -spread;
  for (std::size_t k = 0; k < records.size(); ++k)
    records[k].targets(0, k % 2 == 0 ? 0 : shape.outputs - 1) = length;
  records[3].targets.setConstant(-length);
  return records;
}

TEST(SquaresSensitivity, IsReachedAndNeverExceededWhateverTheRecord) {
  for (const int bits : {8, 16, 24}) {
    for (const double row_norm : {1.0, 0.3, 1024.0}) {
      double most = 0;
      for (const auto& [features, outputs] : {std::pair<Index, Index>{1, 1}, {2, 3}, {17, 1}, {60, 10}}) {
        const SquaresShape shape{.features = features, .outputs = outputs, .unit = std::uint64_t{1} << bits};
        for (const double length : {0.0, 1e-30, 0.5, 1 - 1e-7, 1.0, 1 + 1e-7, 1.3, 1e20}) {
          for (const auto& record : Adversarial(shape, length * row_norm))
            most = std::max(most, ShareOfBound(shape, record, row_norm));
        }
        for (std::uint64_t seed = 0; seed < 20; ++seed)
          most = std::max(
              most,
              ShareOfBound(shape, Normal(shape, 1, std::ldexp(row_norm, 3 - static_cast<int>(seed)), seed),
                           row_norm));
      }
      // Short of it by roundings, and by 1681 of 1682 where products are of pairs.
      EXPECT_GT(most, bits == 8 ? 0.97 : 0.999) << bits << ' ' << row_norm;
    }
  }
}

TEST(SquaresSensitivity, IsTheRootRoundedUp) {
  for (int bits = 8; bits <= 24; ++bits) {
    const dp::Uint256 wanted = dp::Uint256(841 * 45) << (4 * bits - 4);
    const dp::Uint256 units = SquaresSensitivity(std::uint64_t{1} << bits);
    EXPECT_GE(units * units, wanted);
    EXPECT_LT((units - 1) * (units - 1), wanted);
  }
}

// ---- The sum.

TEST(SumOfSquares, IsTheSumOfEachRecordsProductsInIntegers) {
  const SquaresShape shape{.features = 3, .outputs = 2, .unit = 1U << 20};
  const auto data = Normal(shape, 2500, 0.2, 3);  // more than two blocks, hardly a row longer than 1
  const auto sum = SumOf(shape, data);
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(shape.numbers()));
  for (Index row = 0; row < data.x.rows(); ++row) {
    ASSERT_LT(data.x.row(row).norm(), 1);
    std::array<std::int64_t, 4> x{};
    for (Index k = 0; k < 3; ++k)
      x.at(static_cast<std::size_t>(k)) = static_cast<std::int64_t>(std::ldexp(data.x(row, k), 20));
    x[3] = 1 << 19;
    auto place = wanted.begin();
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k <= j; ++k) *place++ += (j == k ? 29 : 41) * x.at(j) * x.at(k);
    }
    for (const auto entry : x) {
      for (Index k = 0; k < 2; ++k)
        *place++ += 29 * entry * static_cast<std::int64_t>(std::ldexp(data.targets(row, k), 20));
    }
  }
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_EQ(mpc::Signed(sum(static_cast<Index>(k), 0)), wanted[k]) << k;
}

TEST(SumOfSquares, IsExactAtTheFinestLattice) {
  const SquaresShape shape{.features = 2, .outputs = 1, .unit = 1U << 24};
  Data data = Normal(shape, 70, 0.3, 4);
  RingMatrix wanted = RingMatrix::Zero(shape.numbers(), 1);
  for (Index row = 0; row < data.x.rows(); ++row)
    wanted += SumOf(shape, {.x = data.x.row(row), .targets = data.targets.row(row)});
  EXPECT_TRUE((SumOf(shape, data) == wanted).all());
}

TEST(SumOfSquares, TakesNoRecordsAndRefusesAnotherShape) {
  const SquaresShape shape{.features = 2, .outputs = 1};
  EXPECT_TRUE((SumOf(shape, {.x = FeatureRows(0, 2), .targets = MatrixXd(0, 1)}) == 0).all());
  EXPECT_THROW((void)SumOf(shape, Normal({.features = 3, .outputs = 1}, 2, 1, 0)), ContractError);
  EXPECT_THROW((void)SumOf(shape, Normal({.features = 2, .outputs = 2}, 2, 1, 0)), ContractError);
}

TEST(ClassTargets, AreSignsOfTwoClassesAndElseOnes) {
  EXPECT_EQ(ClassTargets({1, 0}, 2), (MatrixXd(2, 1) << 1, -1).finished());
  EXPECT_EQ(ClassTargets({2, 0}, 3), (MatrixXd(2, 3) << 0, 0, 1, 1, 0, 0).finished());
  EXPECT_THROW((void)ClassTargets({3}, 3), ContractError);
}

TEST(RangeTargets, AreFromTheRangesLowEndToItsHighOne) {
  constexpr int kOne = 1 << kTargetBits;
  EXPECT_EQ(RangeTargets({0, kOne / 4, kOne / 2, kOne, 1}),
            (MatrixXd(5, 1) << -1, -0.5, 0, 1, std::ldexp(1, 1 - kTargetBits) - 1).finished());
  EXPECT_THROW((void)RangeTargets({kOne + 1}), ContractError);
  EXPECT_THROW((void)RangeTargets({-1}), ContractError);
}

// ---- With noise, and solved.

/// Ridge regression as textbooks have it, with the constant of half the rows' bound.
Model PlainRidge(const Data& data, double row_norm, double ridge) {
  MatrixXd a(data.x.rows(), data.x.cols() + 1);
  a << data.x.cast<double>() / row_norm, MatrixXd::Constant(data.x.rows(), 1, 0.5);
  const MatrixXd normal = a.transpose() * a + ridge * MatrixXd::Identity(a.cols(), a.cols());
  const MatrixXd weights = normal.llt().solve(a.transpose() * data.targets);
  return {.weights = weights.topRows(data.x.cols()) / row_norm,
          .bias = 0.5 * weights.bottomRows(1).transpose()};
}

Model Solve(const SquaresShape& shape, const RingMatrix& opened, double row_norm, double deviation) {
  return SolveSquares(shape, opened, row_norm, deviation, VectorXd::Zero(shape.features));
}

TEST(SolveSquares, IsRidgeRegressionWhereNoiseIsSmall) {
  const SquaresShape shape{.features = 6, .outputs = 3, .unit = 1U << 20};
  constexpr double kRowNorm = 4;
  const auto data = Normal(shape, 400, 0.2, 5);
  const double deviation = 0.1 * static_cast<double>(LargestSquare(shape.unit));
  EXPECT_NEAR(RidgeFor(shape, deviation), 0.1 * std::sqrt(3.5), 1e-12);
  const auto found = Solve(shape, SumOf(shape, data, kRowNorm), kRowNorm, deviation);
  const auto wanted = PlainRidge(data, kRowNorm, RidgeFor(shape, deviation));
  EXPECT_LT((found.weights - wanted.weights).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT((found.bias - wanted.bias).cwiseAbs().maxCoeff(), 1e-4);
}

/// Of 600 features somewhat less than a second, of twice as many eight times that.
TEST(SolveSquaresSeconds, GrowWithTheCubeOfTheEntries) {
  const double seconds = SolveSquaresSeconds({.features = 599});
  EXPECT_NEAR(seconds, 0.756, 1e-9);
  EXPECT_NEAR(SolveSquaresSeconds({.features = 1199, .outputs = 10}), 8 * seconds, 1e-9);
}

TEST(SolveSquares, TakesNoisyProductsWithEigenvaluesBelowZero) {
  const SquaresShape shape{.features = 1, .outputs = 1, .unit = 1U << 8};
  const auto unit = static_cast<std::int64_t>(LargestSquare(shape.unit));
  // [[-5, 0], [0, 2]] and (3, 1).
  RingMatrix opened(5, 1);
  for (Index k = 0; k < 5; ++k)
    opened(k, 0) = static_cast<mpc::Word>(
        std::array<std::int64_t, 5>{-5, 0, 2, 3, 1}.at(static_cast<std::size_t>(k)) * unit);
  const double ridge = RidgeFor(shape, static_cast<double>(unit));
  const auto model = Solve(shape, opened, 1, static_cast<double>(unit));
  EXPECT_NEAR(model.weights(0, 0), 0.5 * 3 / ridge, 1e-9);
  EXPECT_NEAR(model.bias(0), 0.5 * 0.5 / (2 + ridge), 1e-9);
}

/// A release of records, made again and again with new noise, whose deviation on a square is `noise`.
struct Releases {
  SquaresShape shape;
  Data data;
  double row_norm;
  double noise;
  VectorXd origin;
};

/// By how much noise moves each weight and the intercept, over the deviation that the release says: the mean
/// of its square over those that say one.
VectorXd SquaredMoves(const Releases& releases, int draws) {
  const auto& [shape, data, row_norm, noise, origin] = releases;
  const double deviation = noise * static_cast<double>(LargestSquare(shape.unit));
  const auto exact = SumOf(shape, data, row_norm);
  const auto still = SolveSquares(shape, exact, row_norm, deviation, origin);
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, deviation);
  VectorXd sum = VectorXd::Zero(shape.entries());
  int said = 0;
  for (int draw = 0; draw < draws; ++draw) {
    RingMatrix opened = exact;
    for (Index k = 0; k < opened.size(); ++k)
      opened(k, 0) += static_cast<mpc::Word>(static_cast<std::int64_t>(normal(random)));
    const auto model = SolveSquares(shape, opened, row_norm, deviation, origin);
    if (!model.deviations) continue;
    ++said;
    const VectorXd moved = model.weights.col(0) - still.weights.col(0);
    sum.head(shape.features) += moved.cwiseQuotient(model.deviations->weights.col(0)).cwiseAbs2();
    const double intercept = moved.dot(origin) + model.bias(0) - still.bias(0);
    sum(shape.features) += std::pow(intercept / model.deviations->intercept(0), 2);
  }
  EXPECT_GT(said, draws / 3);
  return sum / said;
}

/// Weights of norm 2 for rows of norm 1, so that most of the deviations is of the noise on the rows' own
/// products. Of 2,000 draws the means of five squared normals are within seven deviations of 1: a false alarm
/// for one key in 10^8. What is of second order in the noise, a hundredth of the equations, is far below.
TEST(SolveSquares, SaysHowFarNoiseMovesEachNumber) {
  const SquaresShape shape{.features = 4, .outputs = 1, .unit = 1U << 20};
  auto data = Normal(shape, 3000, 0.8, 21);
  data.targets = data.x.cast<double>() * Eigen::Vector4d(0.4, -0.3, 0.1, 0);
  const auto means = SquaredMoves(
      {.shape = shape, .data = data, .row_norm = 4, .noise = 0.4, .origin = Eigen::Vector4d(-1, 2, 0, 0.5)},
      2000);
  EXPECT_LT((means.array() - 1).abs().maxCoeff(), 7 * std::sqrt(2 / 2000.0)) << means.transpose();
}

/// Three categories, of which every record has one, add up to the constant: in that direction there is
/// nothing but noise and ridge. About half of the draws say deviations, which are then too large rather than
/// too small: the mean squares are 0.64 with a deviation of 0.03, so that the bounds are ten of these away.
TEST(SolveSquares, SaysTooMuchRatherThanTooLittleWhereNoiseIsLarge) {
  const SquaresShape shape{.features = 3, .outputs = 1, .unit = 1U << 20};
  Data data{.x = FeatureRows::Zero(3000, 3), .targets = MatrixXd(3000, 1)};
  for (Index row = 0; row < data.x.rows(); ++row) {
    const Index of = row % 7 == 0 ? 2 : row % 2;
    data.x(row, of) = 1;
    data.targets(row, 0) = 0.5 * static_cast<double>(of) - 0.3;
  }
  const auto means = SquaredMoves(
      {.shape = shape, .data = data, .row_norm = 1, .noise = 5, .origin = VectorXd::Zero(3)}, 1000);
  EXPECT_LT(means.maxCoeff(), 1) << means.transpose();
  EXPECT_GT(means.minCoeff(), 0.3) << means.transpose();
}

TEST(SolveSquares, SaysNoDeviationsWhereNoiseIsAsLargeAsTheEquations) {
  const SquaresShape shape{.features = 3, .outputs = 1, .unit = 1U << 8};
  const RingMatrix nothing = RingMatrix::Zero(shape.numbers(), 1);
  EXPECT_FALSE(Solve(shape, nothing, 1, 1e6).deviations);
}

RandomStream StreamOf(int party) { return RandomStream(FixedKey(static_cast<std::uint8_t>(60 + party))); }

/// Three parties' records, opened with noise of each: as plain integers given the same noise, and the model
/// as a plain solution of these; and the noise's variance is what the ridge is made of: of its 4,845 numbers
/// within seven deviations of a chi-square, a false alarm for one key in 10^11.
TEST(LeastSquares, OfThreePartiesAreThePlainOnesGivenTheSameNoise) {
  const SquaresShape shape{.features = 94, .outputs = 3};
  const double sigma = 3;
  const auto sensitivity = SquaresSensitivity(shape.unit);
  std::array<Data, 3> own{Normal(shape, 30, 0.1, 6), Normal(shape, 0, 0.1, 7), Normal(shape, 50, 0.1, 8)};
  const auto opened = RunParties(Seed{9}, [&](mpc::Context& party) {
    NoisySums sums({.coordinates = shape.numbers(), .sigma = sigma, .sensitivity = sensitivity},
                   StreamOf(party.self()));
    return sums.Next(party, SumOf(shape, own.at(static_cast<std::size_t>(party.self())))).value();
  });
  Data all{.x = FeatureRows(80, shape.features), .targets = MatrixXd(80, shape.outputs)};
  all.x << own[0].x, own[2].x;
  all.targets << own[0].targets, own[2].targets;
  const auto exact = SumOf(shape, all);
  RingMatrix plain = exact;
  for (int party = 0; party < 3; ++party)
    plain += CountNoise(StreamOf(party), sigma, sensitivity, shape.numbers()).values();
  const double deviation = std::sqrt(1.5) * sigma * static_cast<double>(sensitivity);
  const auto wanted = Solve(shape, plain, 1, deviation);
  for (const auto& one : opened) {
    EXPECT_TRUE((one == plain).all());
    EXPECT_EQ(Solve(shape, one, 1, deviation).weights, wanted.weights);
  }
  double squares = 0;
  for (Index k = 0; k < shape.numbers(); ++k)
    squares += std::pow(static_cast<double>(mpc::Signed(plain(k, 0) - exact(k, 0))) / deviation, 2);
  const auto numbers = static_cast<double>(shape.numbers());
  EXPECT_NEAR(squares / numbers, 1, 7 * std::sqrt(2 / numbers));
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/clear/logistic_regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <Eigen/Cholesky>

#include "base/error.h"

namespace trefoil::ml {
namespace {

/// Rows of norm 1 at most whose class depends on their features, with some wrong labels.
OwnRecords SeparableRecords(std::uint64_t seed, Eigen::Index rows, Eigen::Index features) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  OwnRecords records;
  records.x.resize(rows, features);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index k = 0; k < features; ++k) records.x(i, k) = normal(generator);
    records.x.row(i) /= 1.001F * records.x.row(i).norm();
    records.y.push_back(records.x(i, 0) + 0.2F * normal(generator) > 0 ? 1 : 0);
  }
  return records;
}

/// J and its derivative along `direction`, term by term.
double Objective(const OwnRecords& records, const Eigen::VectorXd& w, double lambda, bool bias) {
  double sum = 0;
  for (Eigen::Index i = 0; i < records.x.rows(); ++i) {
    double logit = bias ? w(w.size() - 1) : 0;
    for (Eigen::Index k = 0; k < records.x.cols(); ++k) logit += w(k) * static_cast<double>(records.x(i, k));
    sum += std::log1p(std::exp(records.y[static_cast<std::size_t>(i)] == 1 ? -logit : logit));
  }
  return sum / static_cast<double>(records.x.rows()) + lambda / 2 * w.squaredNorm();
}

TEST(FitLogistic, StopsWhereTheObjectiveIsFlat) {
  for (const bool bias : {false, true}) {
    for (const double lambda : {1.0, 0.01}) {
      const auto records = SeparableRecords(3, 300, 5);
      const Eigen::VectorXd w = FitLogistic(records, {.lambda = lambda, .bias = bias, .tolerance = 1e-8});
      ASSERT_EQ(w.size(), bias ? 6 : 5);
      // Central differences of step h are off by h^2 times a third derivative below 0.1, and by rounding.
      const double h = 1e-5;
      for (Eigen::Index k = 0; k < w.size(); ++k) {
        Eigen::VectorXd step = Eigen::VectorXd::Zero(w.size());
        step(k) = h;
        const double slope =
            (Objective(records, w + step, lambda, bias) - Objective(records, w - step, lambda, bias)) /
            (2 * h);
        EXPECT_NEAR(slope, 0, 1e-8 + 1e-10 + 1e-15 / h);
      }
      EXPECT_GT(w(0), 0);
    }
  }
}

TEST(FitLogistic, MovesByAtMostItsSensitivityWhereARecordIsReplacedOrAdded) {
  std::mt19937_64 generator(5);
  double most = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const LogisticSettings settings{.lambda = 0.1, .bias = true, .tolerance = 1e-9};
    constexpr int kRows = 6;
    auto records = SeparableRecords(100 + static_cast<std::uint64_t>(trial), kRows, 2);
    const Eigen::VectorXd before = FitLogistic(records, settings);
    const double bound = 2 * LipschitzBound(1, true) / (kRows * settings.lambda) + 2e-8;
    // The worst record: along the weights, of the class that they deny.
    auto replaced = records;
    replaced.x.row(0) = (before.head(2) / (1.001 * before.head(2).norm())).transpose().cast<float>();
    replaced.y[0] = 0;
    const double moved = (FitLogistic(replaced, settings) - before).norm();
    EXPECT_LE(moved, bound);
    most = std::max(most, moved / bound);
    auto added = records;
    added.x.conservativeResize(kRows + 1, 2);
    added.x.row(kRows) = replaced.x.row(0);
    added.y.push_back(0);
    EXPECT_LE((FitLogistic(added, settings) - before).norm(), bound);
  }
  EXPECT_GT(most, 0.1);  // the bound is no empty one
}

TEST(FitLogistic, IsWithinItsGapOfTheMinimiser) {
  const auto records = SeparableRecords(4, 50, 3);
  const Eigen::VectorXd exact = FitLogistic(records, {.lambda = 0.02, .bias = true, .tolerance = 1e-12});
  for (const double tolerance : {1e-1, 1e-2, 1e-4}) {
    const LogisticSettings settings{.lambda = 0.02, .bias = true, .tolerance = tolerance};
    const double distance = (FitLogistic(records, settings) - exact).norm();
    EXPECT_LE(distance, SolverGap(settings, 1, 50, 3) + 1e-9);
    EXPECT_GE(SolverGap(settings, 1, 50, 3), tolerance / settings.lambda);
  }
}

/// The minimiser by Newton's method with extended precision, halving steps while the gradient does not
/// shrink.
Eigen::VectorXd Minimiser(const OwnRecords& records, double lambda, double count) {
  using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  Matrix rows(records.rows(), records.features() + 1);
  rows << records.x.cast<long double>(), Matrix::Ones(records.rows(), 1);
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    if (records.y[static_cast<std::size_t>(i)] == 0) rows.row(i) *= -1;
  const auto gradient = [&](const Vector& w) -> Vector {
    const Vector slopes = (1 / (1 + (rows * w).array().exp())).matrix();
    return lambda * w - rows.transpose() * slopes / count;
  };
  Vector w = Vector::Zero(rows.cols());
  for (int k = 0; k < 200; ++k) {
    const Vector slopes = (1 / (1 + (rows * w).array().exp())).matrix();
    const Vector curvatures = (slopes.array() * (1 - slopes.array()) / count).matrix();
    const Matrix hessian =
        lambda * Matrix::Identity(w.size(), w.size()) + rows.transpose() * curvatures.asDiagonal() * rows;
    Vector step = hessian.ldlt().solve(gradient(w));
    while (gradient(w - step).norm() > gradient(w).norm() && step.norm() > 1e-20L) step /= 2;
    w -= step;
  }
  EXPECT_LT(gradient(w).norm(), 1e-16L);
  return w.cast<double>();
}

// Also where double precision does not reach the tolerance, which no refusal may tell: 1e-22 never is.
TEST(FitLogistic, IsWithinItsGapWhateverTheRowsAndTheToleranceAre) {
  for (const double lambda : {1.0, 1e-2, 1e-4, 1e-6}) {
    for (const double tolerance : {1e-22, 1e-6}) {
      const LogisticSettings settings{.lambda = lambda, .bias = true, .tolerance = tolerance};
      ASSERT_LE(SolverIterations(settings, 1), kMaxIterations);
      for (const Eigen::Index rows : {1, 2, 40}) {
        auto records = SeparableRecords(11, rows, 3);
        if (rows == 2) records.x.row(1) = records.x.row(0);  // the same row with both classes
        if (rows == 2) records.y = {0, 1};
        const double distance =
            (FitLogistic(records, settings) - Minimiser(records, lambda, static_cast<double>(rows))).norm();
        EXPECT_LE(distance, SolverGap(settings, 1, rows, 3)) << lambda << ' ' << tolerance << ' ' << rows;
      }
    }
  }
  EXPECT_LT(SolverGap({.lambda = 1e-2, .bias = true, .tolerance = 1e-22}, 1, 40, 3), 1e-8);
}

// Fewer rows than least_rows count as that many: so the last one that goes moves the weights no further.
TEST(FitLogistic, CountsMissingRowsAsZeros) {
  const LogisticSettings settings{.lambda = 0.1, .bias = true, .tolerance = 1e-9};
  constexpr int kMin = 6;
  const double bound = 2 * LipschitzBound(1, true) / (kMin * settings.lambda) + 2e-8;
  double most = 0;
  Eigen::VectorXd before = FitLogistic(SeparableRecords(12, 0, 2), settings, kMin);
  EXPECT_EQ(before, Eigen::VectorXd::Zero(3));
  for (const Eigen::Index rows : {1, 2, 3, 4, 5, 6, 7}) {
    auto records = SeparableRecords(12, rows, 2);
    records.y.assign(records.y.size(), 1);
    const Eigen::VectorXd after = FitLogistic(records, settings, kMin);
    const auto count = static_cast<double>(std::max<Eigen::Index>(rows, kMin));
    EXPECT_LE((after - Minimiser(records, settings.lambda, count)).norm(), 1e-7);
    EXPECT_LE((after - before).norm(), bound);
    most = std::max(most, (after - before).norm() / bound);
    before = after;
  }
  EXPECT_GT(most, 0.1);
}

TEST(FitLogistic, TakesNoMoreIterationsThanItSays) {
  EXPECT_EQ(SolverIterations({.lambda = 1, .bias = false, .tolerance = 5}, 1), 1);
  // 2 sqrt(1 + 1 / 0.04) ln(0.5e6) = 133.8
  EXPECT_EQ(SolverIterations({.lambda = 0.01, .bias = false, .tolerance = 1e-6}, 1), 135);
  EXPECT_GT(SolverIterations({.lambda = 1e-12, .bias = true, .tolerance = 1e-6}, 1), kMaxIterations);
}

TEST(FitLogistic, RefusesOtherClasses) {
  auto records = SeparableRecords(1, 300, 5);
  records.y[1] = 2;
  EXPECT_THROW((void)FitLogistic(records, {}), ContractError);
}

}  // namespace
}  // namespace trefoil::ml

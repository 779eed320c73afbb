#include "ml/on_deposits/deposited_squares.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "base/error.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/settings.h"
#include "ml/records.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct DepositedCase {
  double row_norm = 1;
  int fraction_bits = 16;
  Index features = 3;
  int classes = 2;  ///< 0: a target
};

const std::vector<DepositedCase>& DepositedCases() {
  static const std::vector<DepositedCase> cases{
      {},
      {.row_norm = 3, .features = 5, .classes = 3},
      {.row_norm = 0.3, .fraction_bits = 12, .features = 1, .classes = 2},
      {.row_norm = std::sqrt(2.0), .fraction_bits = 20, .features = 4, .classes = 0},
      {.row_norm = 2.5, .fraction_bits = 24, .features = 2, .classes = 0},
  };
  return cases;
}

DepositedScale ScaleOf(const DepositedCase& one) {
  return ScaleOfDeposited(LargestSquaredNorm(one.row_norm, one.fraction_bits), one.fraction_bits);
}

SquaresShape ShapeOf(const DepositedCase& one) {
  return {
      .features = one.features, .outputs = one.classes > 2 ? one.classes : 1, .unit = ScaleOf(one).unit()};
}

DepositedLabels LabelsOf(const DepositedCase& one) {
  return one.classes == 0 ? DepositedLabels::kTargets : DepositedLabels::kClasses;
}

/// Rows as an owner deposits them, of norm R or a little less, every third of them padding.
RingMatrix Deposit(const DepositedCase& one, Index height, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto shape = ShapeOf(one);
  RingMatrix rows = RingMatrix::Zero(height, one.features + 1 + shape.outputs);
  for (Index k = 0; k < height; ++k) {
    if (k % 3 == 2) continue;
    Eigen::RowVectorXd features(one.features);
    for (auto& value : features) value = normal(random);
    features *= 2 * one.row_norm / features.norm();  // shortened
    (void)EncodeFeatures(features, k, one.row_norm, one.fraction_bits,
                         std::span(&rows(k, 0), static_cast<std::size_t>(one.features)));
    rows(k, one.features) = 1;
    const auto label = random();
    if (one.classes == 0) {
      constexpr Word kEnd = Word{1} << kTargetBits;
      rows(k, one.features + 1) = k == 0 ? 0 : k == 1 ? kEnd : label % (kEnd + 1);
    } else if (one.classes == 2) {
      rows(k, one.features + 1) = label % 2;
    } else {
      rows(k, one.features + 1 + static_cast<Index>(label % static_cast<std::uint64_t>(one.classes))) = 1;
    }
  }
  return rows;
}

/// One row's entries and targets, in units of the shape.
struct WholeRow {
  std::vector<__int128> entries{};
  std::vector<__int128> targets{};
};

WholeRow RowOf(const DepositedCase& one, const RingMatrix& rows, Index k) {
  const auto scale = ScaleOf(one);
  const auto shape = ShapeOf(one);
  const auto unit = static_cast<__int128>(scale.unit());
  const auto mask = static_cast<__int128>(rows(k, one.features));
  WholeRow row;
  for (Index j = 0; j < one.features; ++j)
    row.entries.push_back(static_cast<__int128>(scale.factor) * mpc::Signed(rows(k, j)));
  row.entries.push_back(mask * unit / 2);
  for (Index j = 0; j < shape.outputs; ++j) {
    const auto label = static_cast<__int128>(rows(k, one.features + 1 + j));
    if (one.classes == 0) {
      const double steps =
          std::floor(std::ldexp(static_cast<double>(label), one.fraction_bits - kTargetBits) + 0.5);
      row.targets.push_back(static_cast<__int128>(scale.steps) *
                            (2 * static_cast<__int128>(steps) - (mask << one.fraction_bits)));
    } else {
      row.targets.push_back(unit * (one.classes == 2 ? 2 * label - mask : label));
    }
  }
  return row;
}

/// 29 for squares and products with targets, 41 for pairs.
std::vector<__int128> PlainSum(const DepositedCase& one, const std::vector<RingMatrix>& deposits) {
  std::vector<__int128> sum(static_cast<std::size_t>(ShapeOf(one).numbers()), 0);
  for (const auto& rows : deposits) {
    for (Index row = 0; row < rows.rows(); ++row) {
      const auto [entries, targets] = RowOf(one, rows, row);
      auto place = sum.begin();
      for (std::size_t j = 0; j < entries.size(); ++j) {
        for (std::size_t k = 0; k <= j; ++k) *place++ += (j == k ? 29 : 41) * entries[j] * entries[k];
      }
      for (const auto entry : entries) {
        for (const auto target : targets) *place++ += 29 * entry * target;
      }
    }
  }
  return sum;
}

TEST(DepositedSquares, ArePlainIntegerArithmeticAtTheDeclaredCost) {
  for (const auto& one : DepositedCases()) {
    const std::vector<RingMatrix> deposits{Deposit(one, 30, 1), Deposit(one, 7, 2)};
    const auto shape = ShapeOf(one);
    const auto parts = RunParties(Seed{3}, [&](mpc::Context& party) {
      std::vector<mpc::ArithShare> shares;
      for (const auto& rows : deposits) shares.push_back(InsecureDeal(party, rows));
      MeasuredPart<RingMatrix> part;
      mpc::AdditiveShare sum;
      part.measured = protocols::Measure(
          party, [&] { sum = SumOfDepositedSquares(party, shape, ScaleOf(one), LabelsOf(one), shares); });
      part.value = protocols::Reveal(party, protocols::Reshare(party, sum), protocols::ReleaseReason::kTest);
      return part;
    });
    EXPECT_EQ(Figures(parts), Figures(SumOfDepositedSquaresCost(ScaleOf(one), LabelsOf(one), 37)));
    const auto wanted = PlainSum(one, deposits);
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_EQ(parts[0].value(static_cast<Index>(k), 0), static_cast<Word>(wanted[k])) << k;
  }
}

// What each record adds, of the bound: rows as long as the checks on shares let them be, in exact integers.
TEST(DepositedSquares, AddNoMoreThanTheSensitivityOfAnyRowThatPassesTheChecks) {
  for (const auto& one : DepositedCases()) {
    const auto largest = LargestSquaredNorm(one.row_norm, one.fraction_bits);
    const auto bound = static_cast<double>(SquaresSensitivity(ScaleOf(one).unit()));
    double most = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      // Records whose targets are at the low end, at the high end and between.
      RingMatrix row = Deposit(one, 5, seed).row(std::array<Index, 4>{0, 1, 3, 4}.at(seed % 4));
      for (Index j = 0; j < one.features; ++j) row(0, j) = 0;
      // Along one feature, or between two, as long as integers can be.
      const double length = std::floor(std::sqrt(static_cast<double>(largest)));
      const double angle = one.features > 1 ? static_cast<double>(seed / 4) : 0;
      row(0, 0) = static_cast<Word>(static_cast<std::int64_t>(length * std::cos(angle)));
      if (one.features > 1)
        row(0, 1) = static_cast<Word>(static_cast<std::int64_t>(length * std::sin(angle)));
      const auto sum = PlainSum(one, {row});
      long double squares = 0;
      for (const auto number : sum) {
        EXPECT_LE(number < 0 ? -number : number, static_cast<__int128>(LargestSquare(ScaleOf(one).unit())));
        squares += static_cast<long double>(number) * static_cast<long double>(number);
      }
      const auto share = static_cast<double>(std::sqrt(squares)) / bound;
      EXPECT_LE(share, 1 + 1e-12) << one.row_norm << ' ' << seed;
      most = std::max(most, share);
    }
    EXPECT_GT(most, 0.75)
        << one.row_norm;  // the unit may be an eighth above a row's norm, and a square a quarter
  }
}

TEST(ScaleOfDeposited, HoldsTheLongestRowAndIsWithinAnEighthOfIt) {
  for (int bits = 8; bits <= 24; ++bits) {
    for (const double row_norm :
         {0.01, 0.1, 0.3, 1 / 3.0, 0.9, 1.0, 1.01, std::sqrt(2.0), 1.99, 3.0, 7.3, 15.9}) {
      const auto largest = LargestSquaredNorm(row_norm, bits);
      if (largest == 0) continue;
      const auto scale = ScaleOfDeposited(largest, bits);
      const auto unit = static_cast<unsigned __int128>(scale.unit());
      EXPECT_LE(static_cast<unsigned __int128>(scale.factor) * scale.factor * largest, unit * unit)
          << row_norm << ' ' << bits;
      // A norm of few units is rounded up to a whole one.
      const double norm = std::ceil(std::sqrt(static_cast<double>(largest)));
      EXPECT_LE(8 * static_cast<double>(scale.unit()), 9 * static_cast<double>(scale.factor) * norm)
          << row_norm << ' ' << bits;
      EXPECT_LE(scale.factor, 1 + std::ceil(8 * std::ldexp(1.0, bits) / norm));
    }
  }
  const auto three = ScaleOfDeposited(LargestSquaredNorm(3, 16), 16);
  EXPECT_EQ(three.factor, 1U);
  EXPECT_EQ(three.steps, 3U);
  EXPECT_EQ(three.row_norm(), 3);
}

/// Opened with noise of all three: the plain sum given the same noise.
TEST(DepositedSquares, OpenAsThePlainSumGivenTheSameNoise) {
  const auto& one = DepositedCases()[1];
  const auto shape = ShapeOf(one);
  const std::vector<RingMatrix> deposits{Deposit(one, 20, 5), Deposit(one, 11, 6)};
  const double sigma = 2;
  const auto sensitivity = SquaresSensitivity(shape.unit);
  const auto stream = [](int party) { return RandomStream(FixedKey(static_cast<std::uint8_t>(40 + party))); };
  const auto opened = RunParties(Seed{10}, [&](mpc::Context& party) {
    NoisySums sums({.coordinates = shape.numbers(), .sigma = sigma, .sensitivity = sensitivity},
                   stream(party.self()));
    std::vector<mpc::ArithShare> shares;
    for (const auto& rows : deposits) shares.push_back(InsecureDeal(party, rows));
    return sums.Next(party, SumOfDepositedSquares(party, shape, ScaleOf(one), LabelsOf(one), shares)).value();
  });
  const auto exact = PlainSum(one, deposits);
  RingMatrix plain(shape.numbers(), 1);
  for (std::size_t k = 0; k < exact.size(); ++k)
    plain(static_cast<Index>(k), 0) = static_cast<Word>(exact[k]);
  for (int party = 0; party < 3; ++party)
    plain += CountNoise(stream(party), sigma, sensitivity, shape.numbers()).values();
  for (const auto& party : opened) EXPECT_TRUE((party == plain).all());
}

TEST(DepositedSquares, RefuseAnotherShape) {
  const auto& one = DepositedCases()[0];
  (void)RunParties(Seed{2}, [&](mpc::Context& party) {
    std::vector<mpc::ArithShare> wide;
    wide.push_back(mpc::ArithShare::Zero(2, one.features + 3));
    EXPECT_THROW((void)SumOfDepositedSquares(party, ShapeOf(one), ScaleOf(one), LabelsOf(one), wide),
                 ContractError);
    auto shape = ShapeOf(one);
    shape.unit *= 2;
    EXPECT_THROW((void)SumOfDepositedSquares(party, shape, ScaleOf(one), LabelsOf(one), {}), ContractError);
    return 0;
  });
  EXPECT_THROW((void)ScaleOfDeposited(0, 16), ContractError);
  EXPECT_THROW((void)ScaleOfDeposited(1, 31), ContractError);
}

}  // namespace
}  // namespace trefoil::ml

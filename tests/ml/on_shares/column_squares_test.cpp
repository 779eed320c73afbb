#include "ml/on_shares/column_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using Eigen::MatrixXd;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// What the three parties have of the same rows.
struct Joint {
  SquaresShape shape;
  SquaresColumns columns;
  std::array<FeatureRows, 3> x{};
  MatrixXd targets;

  [[nodiscard]] Index rows() const { return targets.rows(); }
  [[nodiscard]] RingMatrix Encoded(int party, double row_norm, Index height) const {
    ThreadPool pool(2);
    return EncodeColumns(shape, columns, party, x.at(static_cast<std::size_t>(party)), row_norm,
                         party == columns.target_party ? targets : MatrixXd(), height, pool);
  }
};

Joint Normal(const SquaresShape& shape, const SquaresColumns& columns, Index rows, double size,
             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, size);
  Joint joint{.shape = shape, .columns = columns, .targets = MatrixXd(rows, shape.outputs)};
  for (std::size_t party = 0; party < 3; ++party) {
    joint.x.at(party).resize(rows, columns.features.at(party));
    for (auto& value : joint.x.at(party).reshaped()) value = static_cast<float>(normal(random));
  }
  for (auto& value : joint.targets.reshaped()) value = normal(random);
  return joint;
}

/// The parties' integers put together as a row has them, with 128-bit sums of products: 29 for squares and
/// products with targets, 41 for pairs.
std::vector<__int128> PlainSum(const Joint& joint, double row_norm) {
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(joint.rows()));
  std::vector<std::vector<std::int64_t>> targets = rows;
  std::array<RingMatrix, 3> parts;
  for (int party = 0; party < 3; ++party)
    parts.at(static_cast<std::size_t>(party)) = joint.Encoded(party, row_norm, joint.rows());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = static_cast<Index>(row);
    for (std::size_t party = 0; party < 3; ++party) {
      for (Index k = 0; k < joint.columns.features.at(party); ++k)
        rows[row].push_back(mpc::Signed(parts.at(party)(at, k)));
    }
    const auto of = static_cast<std::size_t>(joint.columns.target_party);
    const Index own = joint.columns.features.at(of);
    rows[row].push_back(mpc::Signed(parts.at(of)(at, own)));
    for (Index k = 0; k < joint.shape.outputs; ++k)
      targets[row].push_back(mpc::Signed(parts.at(of)(at, own + 1 + k)));
  }
  std::vector<__int128> sum(static_cast<std::size_t>(joint.shape.numbers()), 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto place = sum.begin();
    for (std::size_t j = 0; j < rows[row].size(); ++j) {
      for (std::size_t k = 0; k <= j; ++k)
        *place++ += static_cast<__int128>(j == k ? 29 : 41) * rows[row][j] * rows[row][k];
    }
    for (const auto entry : rows[row]) {
      for (const auto target : targets[row]) *place++ += static_cast<__int128>(29) * entry * target;
    }
  }
  return sum;
}

struct SquaresCase {
  SquaresColumns columns;
  Index outputs = 1;
  int fraction_bits = 16;
};

const std::vector<SquaresCase>& Cases() {
  static const std::vector<SquaresCase> cases{
      {.columns = {.features = {2, 3, 1}, .target_party = 0}},
      {.columns = {.features = {1, 0, 4}, .target_party = 1}, .outputs = 3},  // one party has targets alone
      {.columns = {.features = {0, 0, 5}, .target_party = 2}, .fraction_bits = 24},
      {.columns = {.features = {7, 1, 0}, .target_party = 0}, .outputs = 2, .fraction_bits = 8},
  };
  return cases;
}

SquaresShape ShapeOf(const SquaresCase& one) {
  const auto& features = one.columns.features;
  return {.features = features[0] + features[1] + features[2],
          .outputs = one.outputs,
          .unit = std::uint64_t{1} << one.fraction_bits};
}

TEST(ColumnSquares, AreThePlainProductsOfTheJoinedRowsAtTheDeclaredCost) {
  constexpr Index kHeight = 23;
  for (const auto& one : Cases()) {
    const auto joint = Normal(ShapeOf(one), one.columns, 17, 0.4, 5);
    const auto parts = RunParties(Seed{3}, [&](mpc::Context& party) {
      const auto own = joint.Encoded(party.self(), 2, kHeight);
      MeasuredPart<RingMatrix> part;
      mpc::AdditiveShare sum;
      part.measured = protocols::Measure(
          party, [&] { sum = SumOfColumnSquares(party, joint.shape, joint.columns, own, kHeight); });
      part.value = protocols::Reveal(party, protocols::Reshare(party, sum), protocols::ReleaseReason::kTest);
      return part;
    });
    EXPECT_EQ(Figures(parts), Figures(SumOfColumnSquaresCost(joint.shape, joint.columns, kHeight)));
    const auto wanted = PlainSum(joint, 2);
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_EQ(parts[0].value(static_cast<Index>(k), 0), static_cast<Word>(wanted[k])) << k;
  }
}

TEST(ColumnSquares, AreThoseOfWholeRowsWhereNoPartIsLong) {
  for (const auto& one : Cases()) {
    const auto joint = Normal(ShapeOf(one), one.columns, 40, 0.02, 6);
    FeatureRows whole(joint.rows(), joint.shape.features);
    whole << joint.x[0], joint.x[1], joint.x[2];
    ThreadPool pool(1);
    const auto sum = SumOfSquares(joint.shape, whole, 0.5, joint.targets, pool);
    const auto plain = PlainSum(joint, 0.5);
    for (std::size_t k = 0; k < plain.size(); ++k)
      EXPECT_EQ(sum(static_cast<Index>(k), 0), static_cast<Word>(plain[k])) << k;
  }
}

TEST(ColumnSquares, MakeRowsOfNormOneAtMostWhateverThePartiesHave) {
  for (const auto& one : Cases()) {
    for (const double size : {1e-6, 0.3, 1.0, 1e20}) {
      const auto joint = Normal(ShapeOf(one), one.columns, 50, size, 7);
      for (Index row = 0; row < joint.rows(); ++row) {
        unsigned __int128 squares = 0;
        for (int party = 0; party < 3; ++party) {
          const auto numbers = joint.Encoded(party, 1, joint.rows());
          for (Index k = 0; k < joint.columns.features.at(static_cast<std::size_t>(party)); ++k) {
            const auto value = static_cast<unsigned __int128>(std::abs(mpc::Signed(numbers(row, k))));
            squares += value * value;
          }
        }
        EXPECT_LE(squares, static_cast<unsigned __int128>(1) << (2 * one.fraction_bits));
      }
    }
  }
}

TEST(ColumnSquares, RefuseColumnsOfAnotherShape) {
  const auto joint = Normal({.features = 3}, {.features = {1, 1, 1}, .target_party = 1}, 4, 1, 8);
  ThreadPool pool(1);
  const auto encode = [&](int party, const FeatureRows& x, const MatrixXd& targets, Index height) {
    (void)EncodeColumns(joint.shape, joint.columns, party, x, 1, targets, height, pool);
  };
  EXPECT_THROW(encode(0, FeatureRows::Zero(4, 2), MatrixXd(), 4), ContractError);
  EXPECT_THROW(encode(0, joint.x[0], joint.targets, 4), ContractError);
  EXPECT_THROW(encode(1, joint.x[1], MatrixXd(), 4), ContractError);
  EXPECT_THROW(encode(0, joint.x[0], MatrixXd(), 3), ContractError);
}

/// Three parties' columns, opened with noise of each: the plain sum given the same noise.
TEST(ColumnSquares, OfThreePartiesOpenAsThePlainSumGivenTheSameNoise) {
  const auto& one = Cases()[1];
  const auto joint = Normal(ShapeOf(one), one.columns, 60, 0.5, 9);
  const double sigma = 2;
  const auto sensitivity = SquaresSensitivity(joint.shape.unit, dp::Neighbours::kReplaced);
  const auto stream = [](int party) { return RandomStream(FixedKey(static_cast<std::uint8_t>(70 + party))); };
  const auto opened = RunParties(Seed{10}, [&](mpc::Context& party) {
    NoisySums sums({.coordinates = joint.shape.numbers(), .sigma = sigma, .sensitivity = sensitivity},
                   stream(party.self()));
    return sums
        .Next(party, SumOfColumnSquares(party, joint.shape, joint.columns,
                                        joint.Encoded(party.self(), 1, joint.rows()), joint.rows()))
        .value();
  });
  const auto exact = PlainSum(joint, 1);
  RingMatrix plain(joint.shape.numbers(), 1);
  for (std::size_t k = 0; k < exact.size(); ++k)
    plain(static_cast<Index>(k), 0) = static_cast<Word>(exact[k]);
  for (int party = 0; party < 3; ++party)
    plain += CountNoise(stream(party), sigma, sensitivity, joint.shape.numbers()).values();
  for (const auto& party : opened) EXPECT_TRUE((party == plain).all());
}

// ---- How much another record in the place of one changes the sum: searched for a violation, in exact
// integers.

double SquaredDistance(const std::vector<__int128>& a, const std::vector<__int128>& b) {
  long double squares = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto distance = static_cast<long double>(a[k] - b[k]);
    squares += distance * distance;
  }
  return static_cast<double>(squares);
}

/// Two records of two numbers and a target, at these angles and lengths; the second party holds the targets.
double ShareOfBound(int bits, std::array<double, 2> angles, std::array<double, 2> lengths,
                    std::array<double, 2> targets) {
  std::array<std::vector<__int128>, 2> sums;
  for (std::size_t k = 0; k < 2; ++k) {
    Joint joint{.shape = {.features = 2, .unit = std::uint64_t{1} << bits},
                .columns = {.features = {2, 0, 0}, .target_party = 1},
                .targets = MatrixXd::Constant(1, 1, targets.at(k))};
    joint.x[0].resize(1, 2);
    joint.x[0] << static_cast<float>(lengths.at(k) * std::cos(angles.at(k))),
        static_cast<float>(lengths.at(k) * std::sin(angles.at(k)));
    joint.x[1].resize(1, 0);
    joint.x[2].resize(1, 0);
    sums.at(k) = PlainSum(joint, 1);
  }
  const auto bound =
      static_cast<double>(SquaresSensitivity(std::uint64_t{1} << bits, dp::Neighbours::kReplaced));
  return SquaredDistance(sums[0], sums[1]) / (bound * bound);
}

TEST(SquaresSensitivityOfReplacement, IsReachedAndNeverExceeded) {
  using Pairs = std::vector<std::array<double, 2>>;
  const Pairs all_lengths{{1.0, 1.0}, {1.0, 0.5}, {0.0, 1.0}, {1e9, 1.0}, {0.3, 0.9}};
  const Pairs all_targets{{1.0, -1.0}, {1.0, 1.0}, {0.5, -1.0}, {-1e9, 1e9}};
  double most = 0;
  for (const int bits : {8, 16, 24}) {
    for (int angle = 0; angle <= 90; ++angle) {
      const double second = 0.3 + angle * std::acos(-1.0) / 90;
      for (const auto& lengths : all_lengths) {
        for (const auto& targets : all_targets) {
          const double share = ShareOfBound(bits, {0.3, second}, lengths, targets);
          EXPECT_LE(share, 1 + 1e-12) << bits << ' ' << angle;
          most = std::max(most, share);
        }
      }
    }
  }
  EXPECT_GT(most, 0.998);
}

TEST(SquaresSensitivityOfReplacement, IsTheRootRoundedUpAndNotBelowAddition) {
  for (int bits = 8; bits <= 24; ++bits) {
    const auto units = SquaresSensitivity(std::uint64_t{1} << bits, dp::Neighbours::kReplaced);
    const auto wanted = static_cast<unsigned __int128>(841 * 98) << (4 * bits - 4);
    EXPECT_GE(static_cast<unsigned __int128>(units) * units, wanted);
    EXPECT_LT(static_cast<unsigned __int128>(units - 1) * (units - 1), wanted);
    EXPECT_GE(units, SquaresSensitivity(std::uint64_t{1} << bits));
  }
}

}  // namespace
}  // namespace trefoil::ml

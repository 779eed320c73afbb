#include "ml/on_shares/ensemble_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/reference/plain_sigmoid.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TransferSettings Small() {
  return {.owners = 9,
          .rows = 12,
          .features = 3,
          .row_norm = 1,
          .majority = false,
          .lambda = 0.2,
          .steps = 6,
          .fraction_bits = 18};
}

Eigen::MatrixXd RandomRows(std::uint64_t seed, const TransferSettings& settings) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd rows(settings.rows, settings.features);
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index k = 0; k < rows.cols(); ++k) rows(i, k) = normal(generator);  // some longer than 1
  return rows;
}

/// Three owners at each party: how many of them vote for class 1.
RingMatrix RandomVotes(std::uint64_t seed, const TransferSettings& settings) {
  std::mt19937_64 generator(seed);
  RingMatrix votes(settings.rows, 1);
  for (Index i = 0; i < votes.rows(); ++i) votes(i, 0) = generator() % 4;
  return votes;
}

Eigen::VectorXd Plain(const RingMatrix& votes) { return votes.cast<double>().matrix().col(0); }

/// The steps in the clear and in double precision, without rounding: what those on shares converge to.
Eigen::VectorXd PlainTransferWeights(const TransferPlan& plan, const Eigen::MatrixXd& x,
                                     const Eigen::VectorXd& votes, int steps) {
  const auto& s = plan.settings;
  const double unit = std::ldexp(1.0, -s.fraction_bits);
  const double one = std::ldexp(1.0, plan.shift);
  Eigen::VectorXd labels = votes;
  if (s.majority) {
    for (double& label : labels)
      label = 2 * label > static_cast<double>(s.owners) ? static_cast<double>(s.owners) : 0;
  }
  const Eigen::VectorXd pull = static_cast<double>(plan.c) / one * (x.transpose() * labels);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(plan.weights());
  for (int step = 0; step < steps; ++step) {
    const Eigen::VectorXd slopes =
        (x * weights).unaryExpr([&](double z) { return reference::SeriesAt(*plan.series, z); });
    weights -= static_cast<double>(plan.a) / one / unit * (x.transpose() * slopes) +
               static_cast<double>(plan.b) / one * weights - pull;
  }
  return weights;
}

std::array<MeasuredPart<Eigen::VectorXd>, 3> Minimised(const TransferPlan& plan, const RingMatrix& x,
                                                       const std::array<RingMatrix, 3>& votes) {
  return RunParties(Seed{5}, [&](mpc::Context& party) {
    mpc::FixedShare weights;
    MeasuredPart<Eigen::VectorXd> part;
    part.measured = protocols::Measure(party, [&] {
      weights = MinimiseTransferRisk(party, plan, x, votes.at(static_cast<std::size_t>(party.self())));
    });
    part.value = mpc::Decode(protocols::Reveal(party, weights.ring(), protocols::ReleaseReason::kTest),
                             weights.frac_bits())
                     .col(0);
    return part;
  });
}

double LengthOf(const TransferPlan& plan) {
  return std::ldexp(static_cast<double>(plan.a) * static_cast<double>(plan.settings.rows),
                    plan.settings.fraction_bits - plan.shift);
}

TEST(MinimiseTransferRisk, TakesThePlainStepsOverAThousandRandomInputs) {
  for (const bool majority : {false, true}) {
    auto settings = Small();
    settings.majority = majority;
    if (majority) settings.owners = 10;  // so that there are ties
    const auto plan = MakeTransferPlan(settings);
    // Each step adds less than a unit of rounding to each weight and to each slope, and none of them grows.
    const double unit = std::ldexp(1.0, -settings.fraction_bits);
    const double wrong = settings.steps * (2 * unit + LengthOf(plan) * std::sqrt(2.0) * (unit + 0x1p-20));
    for (std::uint64_t trial = 0; trial < 500; ++trial) {
      const RingMatrix x = EncodeTransferRows(plan, RandomRows(trial, settings));
      const std::array votes{RandomVotes(3 * trial, settings), RandomVotes(3 * trial + 1, settings),
                             RandomVotes(3 * trial + 2, settings)};
      const auto parts = Minimised(plan, x, votes);
      const Eigen::VectorXd plain =
          PlainTransferWeights(plan, mpc::Decode(x, settings.fraction_bits),
                               Plain(RingMatrix(votes[0] + votes[1] + votes[2])), settings.steps);
      ASSERT_LE((parts[0].value - plain).norm(), wrong) << "trial " << trial;
      ASSERT_GT(plain.norm(), 100 * wrong);
      ASSERT_EQ(Figures(parts), Figures(MinimiseTransferRiskCost(plan)));
    }
  }
}

TEST(MakeTransferPlan, BoundsTheGapAndWhatOneOwnerMoves) {
  for (const bool majority : {false, true}) {
    for (const double lambda : {0.05, 0.5}) {
      auto settings = Small();
      settings.majority = majority;
      settings.lambda = lambda;
      settings.steps = 20;
      const auto plan = MakeTransferPlan(settings);
      double moved = 0;
      for (std::uint64_t trial = 0; trial < 50; ++trial) {
        const Eigen::MatrixXd x =
            mpc::Decode(EncodeTransferRows(plan, RandomRows(trial, settings)), settings.fraction_bits);
        Eigen::VectorXd votes = Plain(RandomVotes(trial, settings));
        if (majority) votes.setConstant(4);  // of nine: one owner decides
        const Eigen::VectorXd exact = PlainTransferWeights(plan, x, votes, 1000);
        EXPECT_LE((PlainTransferWeights(plan, x, votes, settings.steps) - exact).norm(), plan.gap);
        EXPECT_LE(exact.norm(), plan.largest_weight);
        // One owner that changes all its votes for rows along the worst direction, and for all rows alike.
        Eigen::VectorXd other = votes;
        for (double& vote : other) vote += 1;
        const double change = (PlainTransferWeights(plan, x, other, 1000) - exact).norm();
        EXPECT_LE(change, plan.shift_of_owner);
        moved = std::max(moved, change / plan.shift_of_owner);
      }
      EXPECT_GT(moved, 0.05);
      EXPECT_GE(std::ldexp(static_cast<double>(plan.sensitivity), -settings.fraction_bits),
                plan.shift_of_owner + 2 * plan.gap);
    }
  }
}

TEST(MakeTransferPlan, ShrinksWithTheOwnersForFractionsOfVotesAndNotForTheMajority) {
  auto settings = Small();
  const double nine = MakeTransferPlan(settings).shift_of_owner;
  settings.owners = 90;
  EXPECT_NEAR(MakeTransferPlan(settings).shift_of_owner, nine / 10, 1e-4 * nine);
  settings.majority = true;
  const double ninety = MakeTransferPlan(settings).shift_of_owner;
  settings.owners = 9;
  EXPECT_NEAR(MakeTransferPlan(settings).shift_of_owner, ninety, 1e-4 * ninety);
  // L / lambda, but for how far the series falls.
  EXPECT_GE(ninety, std::sqrt(2.0) / 0.2 * 0.999);
  EXPECT_LE(ninety, std::sqrt(2.0) / 0.2 * 1.2);
}

TEST(MakeTransferPlan, RefusesWhatItCannotBound) {
  auto settings = Small();
  settings.lambda = 0.01;  // logits up to 200
  EXPECT_THROW((void)MakeTransferPlan(settings), ConfigError);
  settings = Small();
  settings.fraction_bits = 24;
  settings.rows = 1'000'000;
  EXPECT_THROW((void)MakeTransferPlan(settings), ConfigError);
}

TEST(MakeTransferPlan, RefusesRowsWithoutADigitOnTheirLattice) {
  auto settings = Small();
  settings.row_norm = std::ldexp(1.5, -settings.fraction_bits);
  EXPECT_NO_THROW((void)MakeTransferPlan(settings));
  settings.row_norm = std::ldexp(1.0, -settings.fraction_bits);
  EXPECT_THAT([&] { (void)MakeTransferPlan(settings); },
              testing::ThrowsMessage<ConfigError>(testing::StartsWith("ensemble.row_norm: found ")));
}

// With so few bits the shift of a step would be beyond what a truncation takes; that is not what is missing.
TEST(MakeTransferPlan, WantsMoreFractionBitsForALargeLambda) {
  auto settings = Small();
  settings.lambda = 5000;
  for (const int bits : {8, 12, 16}) {
    settings.fraction_bits = bits;
    EXPECT_THAT([&] { (void)MakeTransferPlan(settings); },
                testing::ThrowsMessage<ConfigError>(testing::HasSubstr("expected more")))
        << bits;
  }
  settings.fraction_bits = 18;
  EXPECT_NO_THROW((void)MakeTransferPlan(settings));
}

TEST(EncodeTransferRows, KeepsRowsWithinTheirNorm) {
  const auto settings = Small();
  const auto plan = MakeTransferPlan(settings);
  const RingMatrix x = EncodeTransferRows(plan, RandomRows(3, settings));
  const Eigen::MatrixXd rows = mpc::Decode(x, settings.fraction_bits);
  double longest = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    EXPECT_EQ(rows(i, 3), 1);
    longest = std::max(longest, rows.row(i).head(3).norm());
  }
  EXPECT_LE(longest, 1);
  EXPECT_GT(longest, 0.99);
}

TEST(MinimiseTransferRisk, RefusesOtherShapesBeforeSending) {
  const auto plan = MakeTransferPlan(Small());
  const RingMatrix x = RingMatrix::Zero(12, 4);
  EXPECT_THROW(
      (void)Minimised(plan, x, {RingMatrix::Zero(11, 1), RingMatrix::Zero(11, 1), RingMatrix::Zero(11, 1)}),
      ContractError);
}

}  // namespace
}  // namespace trefoil::ml

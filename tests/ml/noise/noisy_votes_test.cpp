#include "ml/noise/noisy_votes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr int kWidth = 24;

/// Each party's votes, or noise, of magnitude below 2^bits.
std::array<RingMatrix, 3> Inputs(std::uint64_t seed, Index rows, Index cols, int bits) {
  return {RandomSigned(seed, rows, cols, bits), RandomSigned(seed + 1, rows, cols, bits),
          RandomSigned(seed + 2, rows, cols, bits)};
}

RingMatrix Sum(const std::array<RingMatrix, 3>& parts) { return parts[0] + parts[1] + parts[2]; }

/// In the clear: the first column with the most.
int Winner(const RingMatrix& x, Index row) {
  Index best = 0;
  for (Index column = 1; column < x.cols(); ++column)
    if (mpc::Signed(x(row, column)) > mpc::Signed(x(row, best))) best = column;
  return static_cast<int>(best);
}

struct AnsweredPart {
  std::optional<std::vector<int>> winners;
  std::vector<bool> above;
  std::array<protocols::Measured, 3> measured;
};

std::array<AnsweredPart, 3> Answered(const std::array<RingMatrix, 3>& votes,
                                     const std::array<RingMatrix, 3>& noise,
                                     const std::array<RingMatrix, 3>& threshold_noise, std::int64_t threshold,
                                     const std::vector<int>& to) {
  return RunParties(Seed{5}, [&](mpc::Context& party) {
    const auto self = static_cast<std::size_t>(party.self());
    AnsweredPart part;
    mpc::ArithShare shared;
    part.measured[0] =
        protocols::Measure(party, [&] { shared = protocols::InputSum(party, votes.at(self)); });
    part.measured[1] = protocols::Measure(party, [&] {
      part.above = OpenAboveThreshold(party, shared, threshold_noise.at(self), threshold, kWidth);
    });
    part.measured[2] = protocols::Measure(
        party, [&] { part.winners = OpenNoisyWinners(party, shared, noise.at(self), kWidth, to); });
    return part;
  });
}

CostFigures MeasuredOf(const std::array<AnsweredPart, 3>& parts, std::size_t which) {
  return Figures({parts[0].measured.at(which), parts[1].measured.at(which), parts[2].measured.at(which)});
}

TEST(NoisyVotes, AreThePlainWinnersAndBitsOverAThousandRandomQueries) {
  constexpr Index kQueries = 1000;
  for (const Index classes : {2, 3, 10}) {
    // Few bits: ties in the noisy counts are common.
    const auto votes = Inputs(1, kQueries, classes, 4);
    const auto noise = Inputs(4, kQueries, classes, 3);
    const auto threshold_noise = Inputs(7, kQueries, 1, 5);
    constexpr std::int64_t kThreshold = 15;
    const std::vector<int> to{0, 2};
    const auto parts = Answered(votes, noise, threshold_noise, kThreshold, to);

    const RingMatrix exact = Sum(votes);
    const RingMatrix noisy = Sum(votes) + Sum(noise);
    int ties = 0;
    int above = 0;
    for (Index query = 0; query < kQueries; ++query) {
      const int winner = Winner(noisy, query);
      for (Index column = winner + 1; column < classes; ++column)
        ties += noisy(query, column) == noisy(query, winner);
      ASSERT_EQ(parts[0].winners->at(static_cast<std::size_t>(query)), winner);
      const auto most = mpc::Signed(exact(query, Winner(exact, query)) + Sum(threshold_noise)(query, 0));
      ASSERT_EQ(parts[1].above.at(static_cast<std::size_t>(query)), most > kThreshold);
      above += most > kThreshold ? 1 : 0;
    }
    EXPECT_GT(ties, 5);
    EXPECT_GT(above, 50);
    EXPECT_LT(above, 950);
    EXPECT_EQ(parts[0].winners, parts[2].winners);
    EXPECT_FALSE(parts[1].winners);
    EXPECT_EQ(parts[0].above, parts[1].above);
    EXPECT_EQ(parts[1].above, parts[2].above);
    EXPECT_EQ(MeasuredOf(parts, 0), Figures(protocols::InputSumCost(kQueries * classes)));
    EXPECT_EQ(MeasuredOf(parts, 1), Figures(OpenAboveThresholdCost(kQueries, classes, kWidth)));
    EXPECT_EQ(MeasuredOf(parts, 2), Figures(OpenNoisyWinnersCost(kQueries, classes, kWidth, to)));
  }
}

TEST(NoisyVotes, TakeTheFirstOfEqualCountsAndStopAtTheThreshold) {
  // Ties, empty classes, no votes at all, one vote; most of 5, exactly at the threshold, and of 6, above it.
  RingMatrix counts(5, 3);
  counts << 2, 2, 2, 0, 0, 0, 0, 1, 0, 0, 5, 5, 6, 0, 6;
  const RingMatrix none = RingMatrix::Zero(5, 3);
  const RingMatrix quiet = RingMatrix::Zero(5, 1);
  const auto parts = Answered({counts, none, none}, {none, none, none}, {quiet, quiet, quiet}, 5, {0, 1, 2});
  EXPECT_EQ(*parts[1].winners, (std::vector<int>{0, 0, 1, 1, 0}));
  EXPECT_EQ(parts[1].above, (std::vector<bool>{false, false, false, false, true}));
}

TEST(NoisyVotes, HoldAtTheEdgesOfTheWidth) {
  constexpr std::int64_t kMax = (std::int64_t{1} << (kWidth - 2)) - 1;
  RingMatrix counts(2, 2);
  counts << static_cast<mpc::Word>(kMax), static_cast<mpc::Word>(-kMax), static_cast<mpc::Word>(-kMax),
      static_cast<mpc::Word>(kMax);
  const RingMatrix none = RingMatrix::Zero(2, 2);
  const RingMatrix quiet = RingMatrix::Zero(2, 1);
  const auto parts = Answered({none, counts, none}, {none, none, none}, {quiet, quiet, quiet}, -kMax, {1});
  EXPECT_EQ(*parts[1].winners, (std::vector<int>{0, 1}));
  EXPECT_EQ(parts[0].above, (std::vector<bool>{true, true}));
}

TEST(NoisyVotes, RefuseNoiseOfAnotherShape) {
  const auto run = [](auto operation) {
    RunParties(Seed{5}, [&](mpc::Context& party) {
      operation(party, mpc::ArithShare::Zero(3, 2));
      return 0;
    });
  };
  EXPECT_THROW(run([](mpc::Context& party, const mpc::ArithShare& votes) {
                 (void)OpenAboveThreshold(party, votes, RingMatrix::Zero(3, 2), 1, kWidth);
               }),
               ContractError);
  EXPECT_THROW(run([](mpc::Context& party, const mpc::ArithShare& votes) {
                 (void)OpenNoisyWinners(party, votes, RingMatrix::Zero(3, 1), kWidth, {0});
               }),
               ContractError);
}

}  // namespace
}  // namespace trefoil::ml

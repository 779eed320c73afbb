#include "dp/losses/composition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/dp/losses/responses_delta.h"

namespace trefoil::dp {
namespace {

constexpr double kTruth = 0.1;  // the loss of one randomised response, on the grid of 0.1
constexpr int kCount = 60;

Part RandomisedResponses() {
  const double truth = 1 / (1 + std::exp(-kTruth));
  return {.law = {.width = kTruth, .first = -1, .mass = {1 - truth, 0, truth}, .infinite = 0},
          .count = kCount};
}

double ExactDelta(double epsilon) { return ResponsesDelta(kTruth, kCount, epsilon); }

// Tilts that are far too small for the smaller deltas: the rounding of transforms is then above all that is
// asked for, and the bounds must be so much wider.
TEST(Composition, BracketsTheExactEpsilonWhateverTheTilt) {
  for (const double lambda : {1e-3, 0.1, 1.0, 10.0, 100.0}) {
    const Composition sum({RandomisedResponses()}, lambda);
    ASSERT_TRUE(sum.fits());
    EXPECT_EQ(sum.releases(), kCount);
    for (double delta = 0.5; delta > 1e-60; delta *= 0.3) {
      EXPECT_LE(ExactDelta(sum.EpsilonAbove(delta)), delta * (1 + 1e-9)) << lambda << ' ' << delta;
      const double below = sum.EpsilonBelow(delta);
      if (below > 0) {
        EXPECT_GE(ExactDelta(below), delta * (1 - 1e-9)) << lambda << ' ' << delta;
      }
    }
  }
}

TEST(Composition, IsCloseAtItsOwnDelta) {
  for (const double delta : {0.1, 1e-3, 1e-9, 1e-17}) {
    const Composition sum({RandomisedResponses()}, ChooseTilt({RandomisedResponses()}, delta).lambda);
    EXPECT_NEAR(ExactDelta(sum.EpsilonAbove(delta)), delta, 1e-6 * delta);
    EXPECT_NEAR(ExactDelta(sum.EpsilonBelow(delta)), delta, 1e-6 * delta);
  }
}

TEST(ChooseTilt, HasTheLeastOfChernoffsBounds) {
  const Part part = RandomisedResponses();
  for (const double delta : {0.1, 1e-3, 1e-9, 1e-17, 1e-60}) {
    const auto bound = [&](double lambda) {
      double moment = 0;  // over exp(lambda kTruth), which may be beyond a double
      for (std::size_t i = 0; i < part.law.mass.size(); ++i)
        moment += part.law.mass[i] * std::exp(lambda * (part.law.LossAt(i) - kTruth));
      const double log_gain = lambda * std::log(lambda) - (1 + lambda) * std::log1p(lambda);
      return (part.count * (lambda * kTruth + std::log(moment)) - std::log(delta) + log_gain) / lambda;
    };
    double least = std::numeric_limits<double>::infinity();
    for (double lambda = 1e-3; lambda < 1e6; lambda *= 1.01) least = std::min(least, bound(lambda));
    const Tilt tilt = ChooseTilt({part}, delta);
    EXPECT_NEAR(tilt.epsilon, bound(tilt.lambda), 1e-9 * tilt.epsilon);
    EXPECT_LE(tilt.epsilon, least * (1 + 1e-3));
  }
}

TEST(Composition, HasNoGuaranteeBelowTheMassAtInfinity) {
  auto part = RandomisedResponses();
  part.law.infinite = 1e-9;
  const Composition sum({part}, 1);
  EXPECT_EQ(sum.EpsilonAbove(0.99 * kCount * 1e-9), std::numeric_limits<double>::infinity());
  EXPECT_LE(ExactDelta(sum.EpsilonAbove(2 * kCount * 1e-9)), kCount * 1e-9);
}

TEST(Composition, SaysWhereItsTransformHasNoRoom) {
  auto part = RandomisedResponses();
  part.law.first = -100;  // a hundred times the loss
  part.law.mass.assign(201, 0);
  part.law.mass.front() = part.law.mass.back() = 0.5;
  part.count = 1e8;
  EXPECT_FALSE(Composition({part}, 1e-4).fits());
  EXPECT_THROW((void)Composition({part}, 1e-4).EpsilonAbove(1e-5), ContractError);
  EXPECT_THROW((void)Composition({part}, 1e-4).EpsilonBelow(1e-5), ContractError);
  EXPECT_THROW(Composition({part}, 0), ContractError);
}

}  // namespace
}  // namespace trefoil::dp

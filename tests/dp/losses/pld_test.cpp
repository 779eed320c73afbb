#include "dp/losses/pld.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "dp/accounting/accountant.h"
#include "dp/accounting/analytic_gaussian.h"
#include "tests/dp/losses/responses_delta.h"
#include "tests/dp/reference_vectors.h"

namespace trefoil::dp {
namespace {

PldBounds BoundsOf(const std::vector<LossEvent>& events, double delta) {
  return Pld(events, delta).Epsilon(delta);
}

TEST(Pld, MatchesTheReferenceVectors) {
  const auto vectors = ReferenceVectors("accounting.json");
  for (const auto& row : vectors.at("epsilon")) {
    const double expected = row.at("pld");
    const auto bounds =
        BoundsOf({SampledGaussian{row.at("q"), row.at("sigma"), row.at("steps")}}, row.at("delta"));
    EXPECT_NEAR(bounds.epsilon, expected, 1e-3 * expected) << row;
    EXPECT_LE(bounds.lower, expected) << row;  // the reference is an upper bound, too
    EXPECT_LE(bounds.epsilon - bounds.lower, 1e-3 * expected) << row;
  }
}

TEST(Pld, BracketsTheAnalyticGaussian) {
  for (const double sigma : {0.02, 0.3, 1.0, 5.0, 80.0}) {
    for (const double delta : {1e-2, 1e-5, 1e-11}) {
      for (const std::int64_t count : {1, 10, 1000}) {
        const double exact = AnalyticGaussianEpsilon(sigma / std::sqrt(static_cast<double>(count)), delta);
        const auto bounds = BoundsOf({SampledGaussian{1, sigma, count}}, delta);
        EXPECT_GE(bounds.epsilon, exact * (1 - 1e-12)) << sigma << ' ' << delta << ' ' << count;
        EXPECT_LE(bounds.lower, exact) << sigma << ' ' << delta << ' ' << count;
        EXPECT_LE(bounds.epsilon - bounds.lower, 0.005 * exact + 1e-6)
            << sigma << ' ' << delta << ' ' << count;
      }
    }
  }
}

TEST(Pld, LiesBetweenItsLowerBoundAndRdpOnRandomSettings) {
  std::mt19937_64 random(20260);
  const auto log_uniform = [&](double from, double to) {
    return from * std::pow(to / from, std::uniform_real_distribution<double>(0, 1)(random));
  };
  for (int trial = 0; trial < 30; ++trial) {
    const SampledGaussian event{log_uniform(1e-4, 1), log_uniform(0.4, 20),
                                static_cast<std::int64_t>(log_uniform(1, 1e4))};
    const double delta = log_uniform(1e-10, 1e-3);
    const auto bounds = BoundsOf({event}, delta);
    RdpAccountant rdp;
    rdp.Add(event);
    EXPECT_LE(bounds.epsilon, rdp.Epsilon(delta).epsilon * (1 + 1e-3))
        << event.sampling_rate << ' ' << event.noise_multiplier << ' ' << event.count << ' ' << delta;
    EXPECT_LE(bounds.lower, bounds.epsilon);
    EXPECT_GE(bounds.lower, 0);
  }
}

TEST(Pld, GrowsWithCountAndRateAndFallsWithNoiseAndDelta) {
  const SampledGaussian event{0.02, 1.5, 500};
  const double epsilon = BoundsOf({event}, 1e-5).epsilon;
  EXPECT_GT(BoundsOf({SampledGaussian{0.02, 1.5, 520}}, 1e-5).lower, epsilon);
  EXPECT_GT(BoundsOf({SampledGaussian{0.021, 1.5, 500}}, 1e-5).lower, epsilon);
  EXPECT_GT(BoundsOf({SampledGaussian{0.02, 1.4, 500}}, 1e-5).lower, epsilon);
  EXPECT_GT(BoundsOf({event}, 9e-6).lower, epsilon);
}

TEST(Pld, ComposesUnlikeEventsAsOneWhereTheyAreAlike) {
  const auto together = BoundsOf({SampledGaussian{0.02, 1.5, 500}}, 1e-5);
  const auto apart = BoundsOf({SampledGaussian{0.02, 1.5, 200}, SampledGaussian{0.02, 1.5, 300}}, 1e-5);
  EXPECT_LE(apart.lower, together.epsilon);
  EXPECT_GE(apart.epsilon, together.lower);
  EXPECT_LE(apart.epsilon - apart.lower, 1e-3 * apart.epsilon);
}

TEST(Pld, BracketsRepeatedRandomisedResponse) {
  for (const double e0 : {0.01, 0.1, 1.0}) {
    const auto bounds = BoundsOf({PureDp{e0, 50}}, 1e-5);
    EXPECT_LE(ResponsesDelta(e0, 50, bounds.epsilon), 1e-5 * (1 + 1e-9)) << e0;
    if (bounds.lower > 0) {
      EXPECT_GE(ResponsesDelta(e0, 50, bounds.lower), 1e-5 * (1 - 1e-9)) << e0;
    }
    EXPECT_LE(bounds.epsilon, 50 * e0 * (1 + 1e-3));
  }
}

TEST(Pld, ChargesEachSideOfTheWorseNeighbour) {
  // Few steps at a high rate: the loss of adding a record is bounded by -log(1 - q) a step, that of removing
  // one is not, and counts.
  const auto bounds = BoundsOf({SampledGaussian{0.5, 0.5, 1}}, 1e-6);
  EXPECT_GT(bounds.lower, std::log(2.0));
}

TEST(Pld, RefusesADeltaOutsideItsDomain) {
  EXPECT_THROW(Pld({PureDp{1, 1}}, 0), ConfigError);
  EXPECT_THROW((void)Pld({PureDp{1, 1}}, 1e-5).Epsilon(1), ConfigError);
  EXPECT_THROW(Pld({}, 1e-5), ContractError);
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/accounting/accountant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "tests/dp/not_finite.h"
#include "tests/dp/reference_vectors.h"

namespace trefoil::dp {
namespace {

double EpsilonOf(const std::vector<Event>& events, double delta,
                 RdpConversion conversion = RdpConversion::kImproved) {
  RdpAccountant accountant;
  accountant.Add(events);
  return accountant.Epsilon(delta, conversion).epsilon;
}

TEST(RdpAccountant, MatchesTheReferenceVectors) {
  const auto vectors = ReferenceVectors("accounting.json");
  for (const auto& row : vectors.at("epsilon")) {
    const SampledGaussian event{row.at("q"), row.at("sigma"), row.at("steps")};
    const double expected = row.at("rdp_improved");
    const double epsilon = EpsilonOf({event}, row.at("delta"));
    EXPECT_NEAR(epsilon, expected, 1e-6 * expected) << row;
    const double basic = row.at("rdp_basic");
    EXPECT_NEAR(EpsilonOf({event}, row.at("delta"), RdpConversion::kBasic), basic, 1e-6 * basic) << row;
    EXPECT_GE(epsilon, row.at("pld")) << row;
  }
}

TEST(RdpAccountant, ConvertsAsOlderProgramsDoWhereAsked) {
  // accounting.json, rdp_basic.
  EXPECT_NEAR(EpsilonOf({SampledGaussian{0.04, 1.5, 2250}}, 1e-5, RdpConversion::kBasic), 8.073848, 8e-6);
  EXPECT_NEAR(EpsilonOf({SampledGaussian{0.001, 1, 30000}}, 1e-7, RdpConversion::kBasic), 1.709287, 2e-6);
  EXPECT_EQ(EpsilonOf({}, 1e-5, RdpConversion::kBasic), 0);
}

TEST(RdpAccountant, IsAtLeastTheAnalyticGaussian) {
  // One Gaussian release, Balle and Wang (2018): exact epsilons of accounting.json.
  EXPECT_GE(EpsilonOf({SampledGaussian{1, 1, 1}}, 1e-5), 4.377178095681);
  EXPECT_GE(EpsilonOf({SampledGaussian{1, 2, 1}}, 1e-5), 1.993091404415);
  EXPECT_GE(EpsilonOf({SampledGaussian{1, 4, 1}}, 1e-6), 1.060701862328);
}

TEST(RdpAccountant, ComposesUnlikeEventsByAddingCurves) {
  RdpAccountant both({3.0});
  both.Add(SampledGaussian{1, 2, 5});
  both.Add(SampledGaussian{1, 4, 7});
  both.Add(MaxDivergence{0.01, 2});
  EXPECT_NEAR(both.rdp()[0], 5 * 3.0 / 8 + 7 * 3.0 / 32 + 0.02 * 5 / 2, 1e-14);
}

TEST(RdpAccountant, AddsStepByStepAsAllAtOnce) {
  // A curve that were computed anew at each step would let this test run out of its time.
  RdpAccountant stepwise;
  for (int step = 0; step < 14062; ++step) stepwise.Add(SampledGaussian{256.0 / 60000, 1.1, 1});
  EXPECT_NEAR(stepwise.Epsilon(1e-5).epsilon, 2.59655587, 3e-6);
}

TEST(RdpAccountant, ComposesLaplaceAndPureDifferentialPrivacy) {
  RdpAccountant accountant({2.0, 40.0});
  accountant.Add(Laplace{2, 3});
  accountant.Add(PureDp{0.5, 4});
  // Rounded up by the error of LaplaceRdp.
  for (const auto& [at, order] : {std::pair{0, 2.0}, std::pair{1, 40.0}}) {
    const double exact = 3 * LaplaceRdp(2, order) + 4 * PureDpRdp(0.5, order);
    EXPECT_GE(accountant.rdp()[static_cast<std::size_t>(at)], exact);
    EXPECT_NEAR(accountant.rdp()[static_cast<std::size_t>(at)], exact, 1e-7);
  }
  // One pure release: no more than its own epsilon, whatever delta.
  EXPECT_DOUBLE_EQ(EpsilonOf({PureDp{0.7, 1}}, 1e-12), 0.7);
  EXPECT_DOUBLE_EQ(EpsilonOf({PureDp{0.5, 1}, Laplace{4, 1}}, 1e-12), 0.75);
  // Many of them: less than their sum. And the sum says nothing once there is something else.
  EXPECT_LT(EpsilonOf({PureDp{0.1, 1000}}, 1e-5), 40);
  EXPECT_GT(EpsilonOf({PureDp{0.7, 1}, SampledGaussian{1, 1, 1}}, 1e-5), 2);
}

TEST(RdpAccountant, IsMonotoneAndFiniteOnRandomSettings) {
  std::mt19937_64 random(511);
  const auto log_uniform = [&](double from, double to) {
    return from * std::pow(to / from, std::uniform_real_distribution<double>(0, 1)(random));
  };
  for (int trial = 0; trial < 60; ++trial) {
    const double q = trial % 7 == 0 ? 1 : log_uniform(1e-9, 1);
    const double sigma = log_uniform(1e-3, 1e6);
    const auto steps = static_cast<std::int64_t>(log_uniform(1, 1e6));
    const double delta = log_uniform(1e-15, 0.5);
    const double epsilon = EpsilonOf({SampledGaussian{q, sigma, steps}}, delta);
    const auto where = testing::Message() << q << ' ' << sigma << ' ' << steps << ' ' << delta;
    EXPECT_GE(epsilon, 0) << where;
    EXPECT_FALSE(std::isnan(epsilon)) << where;
    // Where a multiplier is below kExactFrom, sampling is not counted: there more noise may cost more.
    if (sigma >= kExactFrom) {
      EXPECT_LE(EpsilonOf({SampledGaussian{q, 2 * sigma, steps}}, delta), epsilon) << where;
      EXPECT_LE(EpsilonOf({SampledGaussian{q / 2, sigma, steps}}, delta), epsilon * (1 + 1e-12)) << where;
    }
    EXPECT_GE(EpsilonOf({SampledGaussian{q, sigma, 2 * steps}}, delta), epsilon) << where;
    EXPECT_GE(EpsilonOf({SampledGaussian{q, sigma, steps}}, delta / 10), epsilon) << where;
  }
}

TEST(RdpAccountant, ChargesMaxDivergenceLikePureDifferentialPrivacyOnBothSides) {
  // Within bound of a mechanism that reveals nothing is 2 bound-differentially private: the limit of the
  // charge.
  RdpAccountant accountant({1e5});
  accountant.Add(MaxDivergence{0.25, 2});
  EXPECT_GE(accountant.rdp()[0], 1.0);
  EXPECT_LE(accountant.rdp()[0], 1.0 + 1e-4);
}

TEST(RdpAccountant, TakesTotalVariationOffDelta) {
  constexpr double kDelta = 1e-5;
  constexpr double kDistance = 1e-9;
  RdpAccountant accountant;
  accountant.Add(SampledGaussian{0.04, 1.5, 300});
  const double without = accountant.Epsilon(kDelta).epsilon;

  accountant.Add(TotalVariation{kDistance, 300});

  const double epsilon = accountant.Epsilon(kDelta).epsilon;
  EXPECT_GT(epsilon, without);
  RdpAccountant plain;
  plain.Add(SampledGaussian{0.04, 1.5, 300});
  const double supported = plain.Epsilon(kDelta - (1 + std::exp(epsilon)) * kDistance * 300).epsilon;
  EXPECT_LE(supported, epsilon);
  EXPECT_NEAR(supported, epsilon, 1e-8 * epsilon);
}

TEST(RdpAccountant, IsInfiniteWhenTotalVariationEatsDelta) {
  const auto noise = SampledGaussian{0.04, 1.5, 300};
  EXPECT_EQ(EpsilonOf({noise, TotalVariation{1e-5, 1}}, 1e-5), kInfinity);
  EXPECT_EQ(EpsilonOf({noise, TotalVariation{4e-6, 1}}, 1e-5), kInfinity);  // runs away, as e^epsilon > 1.5
  EXPECT_EQ(EpsilonOf({TotalVariation{4e-6, 1}}, 1e-5), 0);
}

TEST(RdpAccountant, KnowsNothingAndEverything) {
  EXPECT_EQ(EpsilonOf({}, 1e-5), 0);
  EXPECT_EQ(EpsilonOf({SampledGaussian{0.1, 0, 0}}, 1e-5), 0);
  EXPECT_EQ(EpsilonOf({SampledGaussian{0.1, 0, 1}}, 1e-5), kInfinity);
  EXPECT_EQ(EpsilonOf({MaxDivergence{kInfinity, 1}}, 1e-5), kInfinity);
  EXPECT_EQ(EpsilonOf({MaxDivergence{kInfinity, 0}}, 1e-5), 0);
}

TEST(RdpAccountant, RefusesWhatIsOutsideItsDomain) {
  RdpAccountant accountant;
  EXPECT_THROW(accountant.Add(SampledGaussian{kNan, 1, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(SampledGaussian{0.1, kNan, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(SampledGaussian{0.1, 1, -1}), ConfigError);
  EXPECT_THROW(accountant.Add(Laplace{kNan, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(PureDp{-1, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(MaxDivergence{kNan, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(TotalVariation{kNan, 1}), ConfigError);
  EXPECT_THROW(accountant.Add(TotalVariation{2, 1}), ConfigError);
  EXPECT_THROW((void)accountant.Epsilon(0), ConfigError);
  EXPECT_THROW((void)accountant.Epsilon(kNan), ConfigError);
  EXPECT_THROW(RdpAccountant(std::vector<double>{}), ContractError);
  EXPECT_EQ(accountant.Epsilon(1e-5).epsilon, 0);
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/losses/pld_accountant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "dp/accounting/analytic_gaussian.h"
#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

Guarantee GuaranteeOf(const std::vector<Event>& events, double delta) {
  PldAccountant accountant;
  for (const auto& event : events) accountant.Add(event);
  return accountant.Epsilon(delta);
}

TEST(PldAccountant, IsTheAnalyticGaussianWherePlainNoiseIsAll) {
  // 4 of multiplier 2 and 9 of multiplier 3 are one of 1 / sqrt(4 / 4 + 9 / 9).
  const auto guarantee = GuaranteeOf({SampledGaussian{1, 2, 4}, SampledGaussian{1, 3, 9}}, 1e-5);
  EXPECT_NEAR(guarantee.epsilon, AnalyticGaussianEpsilon(1 / std::sqrt(2.0), 1e-5), 1e-10);
  EXPECT_LT(guarantee.error, 1e-9);
}

// Sums of 100,000 terms 1 / 81^2 that are rounded to nearest are below by 2.5e-12 of it.
TEST(PldAccountant, IsNeverBelowTheExactValueOfManyAdditions) {
  // With mpmath, 60 digits, as in analytic_gaussian_test.cpp: sigma = 81 / sqrt(100000), delta the double
  // 1e-5.
  constexpr long double kExact = 23.59798896242088133264411L;
  PldAccountant stepwise;
  for (int step = 0; step < 100'000; ++step) stepwise.Add(SampledGaussian{1, 81, 1});
  const auto guarantee = stepwise.Epsilon(1e-5);
  EXPECT_GE(static_cast<long double>(guarantee.epsilon), kExact);
  EXPECT_LE(static_cast<long double>(guarantee.epsilon), kExact * (1 + 1e-9L));
  EXPECT_LE(static_cast<long double>(guarantee.epsilon) - static_cast<long double>(guarantee.error), kExact);
  EXPECT_LT(guarantee.error, 1e-8);
}

TEST(PldAccountant, SaysHowFarAboveTheExactValueItIs) {
  const auto guarantee = GuaranteeOf({SampledGaussian{0.04, 1.5, 2250}}, 1e-5);
  EXPECT_GT(guarantee.error, 0);
  EXPECT_LT(guarantee.error, 1e-3 * guarantee.epsilon);
  EXPECT_EQ(guarantee.order, 0);
}

TEST(PldAccountant, AddsStepByStepAsAllAtOnce) {
  PldAccountant stepwise;
  for (int step = 0; step < 439; ++step) stepwise.Add(SampledGaussian{0.034, 1.1, 1});
  EXPECT_EQ(stepwise.Epsilon(1e-5).epsilon, GuaranteeOf({SampledGaussian{0.034, 1.1, 439}}, 1e-5).epsilon);
}

TEST(PldAccountant, ComposesUnlikeEventsBelowTheSumOfTheirEpsilons) {
  const std::vector<Event> events{SampledGaussian{0.034, 1.1, 75}, SampledGaussian{0.1, 4, 200},
                                  SampledGaussian{1, 10, 1}, Laplace{5, 3}, PureDp{0.1, 2}};
  const auto guarantee = GuaranteeOf(events, 1e-5);
  double sum = 0;
  double largest = 0;
  for (const auto& event : events) {
    const double alone = GuaranteeOf({event}, 1e-5 / 5).epsilon;
    sum += alone;
    largest = std::max(largest, GuaranteeOf({event}, 1e-5).epsilon - GuaranteeOf({event}, 1e-5).error);
  }
  EXPECT_LT(guarantee.epsilon, sum);
  EXPECT_GT(guarantee.epsilon, largest);
  EXPECT_LT(guarantee.error, 0.01 * guarantee.epsilon);
  RdpAccountant rdp;
  rdp.Add(events);
  EXPECT_LT(guarantee.epsilon, rdp.Epsilon(1e-5).epsilon);
}

TEST(PldAccountant, ChargesDivergenceAndTotalVariation) {
  const SampledGaussian noise{1, 4, 3};
  const double epsilon = GuaranteeOf({noise, MaxDivergence{0.01, 2}, TotalVariation{1e-8, 3}}, 1e-5).epsilon;
  const double inner = std::exp(-0.02) * (1e-5 - (1 + std::exp(epsilon)) * 3e-8);
  EXPECT_NEAR(epsilon, AnalyticGaussianEpsilon(4 / std::sqrt(3.0), inner) + 0.04, 1e-7);
  EXPECT_EQ(GuaranteeOf({noise, TotalVariation{1e-5, 1}}, 1e-5).epsilon, kInfinity);
}

/// Of which a loss distribution would span an epsilon of 20,000 in one release.
TEST(PldAccountant, LeavesSampledNoiseThatIsHopelesslySmallToRdp) {
  for (const std::int64_t units : {1, 10}) {
    const double edge = static_cast<double>(units) / 200;
    RdpAccountant rdp;
    const SampledGaussian small{0.5, edge * (1 - 1e-9), 3, units};
    rdp.Add(small);
    const auto guarantee = GuaranteeOf({small}, 1e-5);
    EXPECT_EQ(guarantee.epsilon, rdp.Epsilon(1e-5).epsilon);
    EXPECT_EQ(guarantee.error, guarantee.epsilon);  // nothing is known from below
    // No less than with a little more noise.
    const auto more = GuaranteeOf({SampledGaussian{0.5, edge * (1 + 1e-9), 3, units}}, 1e-5);
    EXPECT_GE(guarantee.epsilon, more.epsilon);
    EXPECT_LT(more.error, 0.01 * more.epsilon);
    // With other events, too; without sampling there is a formula.
    RdpAccountant both;
    both.Add(small);
    both.Add(Laplace{5, 3});
    EXPECT_EQ(GuaranteeOf({small, Laplace{5, 3}}, 1e-5).epsilon, both.Epsilon(1e-5).epsilon);
    EXPECT_LT(GuaranteeOf({SampledGaussian{1, 1e-3, 3, units}}, 1e-5).error, 1e-3);
  }
}

TEST(PldAccountant, KnowsNothingAndEverything) {
  EXPECT_EQ(GuaranteeOf({}, 1e-5).epsilon, 0);
  EXPECT_EQ(GuaranteeOf({SampledGaussian{0, 1, 5}, SampledGaussian{0.1, 1, 0}}, 1e-5).epsilon, 0);
  EXPECT_EQ(GuaranteeOf({SampledGaussian{0.1, 0, 1}}, 1e-5).epsilon, kInfinity);
  EXPECT_EQ(GuaranteeOf({Laplace{0, 1}}, 1e-5).epsilon, kInfinity);
  EXPECT_EQ(GuaranteeOf({PureDp{kInfinity, 1}}, 1e-5).epsilon, kInfinity);
  EXPECT_EQ(GuaranteeOf({MaxDivergence{kInfinity, 1}}, 1e-5).epsilon, kInfinity);
}

TEST(PldAccountant, IsFiniteAtTheEdgesOfItsDomain) {
  for (const SampledGaussian& event :
       {SampledGaussian{1e-9, 0.4, 1000}, SampledGaussian{0.999999, 0.05, 3}, SampledGaussian{0.3, 0.05, 100},
        SampledGaussian{0.5, 1e5, 1000000}, SampledGaussian{1e-4, 0.02, 10},
        SampledGaussian{0.01, 1, std::int64_t{1} << 40}}) {
    const auto guarantee = GuaranteeOf({event}, 1e-6);
    RdpAccountant rdp;
    rdp.Add(event);
    EXPECT_GE(guarantee.epsilon, 0) << event.sampling_rate << ' ' << event.noise_multiplier;
    EXPECT_LE(guarantee.epsilon, rdp.Epsilon(1e-6).epsilon);
    EXPECT_GE(guarantee.error, 0);
  }
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/accounting/pea_accountant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

double EpsilonByPea(const std::vector<Event>& events, double delta) {
  PeaAccountant accountant;
  for (const auto& event : events) accountant.Add(event);
  return accountant.Epsilon(delta).epsilon;
}

TEST(Pea, InvertsItself) {
  const double sigma = PeaNoiseMultiplier(3, 439, 1e-5);
  EXPECT_NEAR(sigma, 2 * std::sqrt(439 * std::log(1e5)) / 3, 1e-12);
  EXPECT_NEAR(PeaEpsilon(sigma, 439, 1e-5), 3, 1e-12);
}

TEST(Pea, IsAtLeastZeroConcentratedPrivacyUpToItsRange) {
  for (const double delta : {1e-2, 1e-5, 1e-9}) {
    const double limit = 2.3 * std::log(1 / delta);
    for (const double epsilon : {0.1, 1.0, 3.0, 0.999 * limit}) {
      const double sigma = PeaNoiseMultiplier(epsilon, 100, delta);
      const double rho = 100 / (2 * sigma * sigma);
      EXPECT_GE(epsilon, rho + 2 * std::sqrt(rho * std::log(1 / delta)));
    }
    EXPECT_THROW((void)PeaNoiseMultiplier(1.001 * limit, 100, delta), ConfigError);
    EXPECT_THROW((void)PeaEpsilon(0.1, 100, delta), ConfigError);
  }
}

TEST(Pea, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW((void)PeaEpsilon(0, 100, 1e-5), ConfigError);
  EXPECT_THROW((void)PeaEpsilon(kNan, 100, 1e-5), ConfigError);
  EXPECT_THROW((void)PeaEpsilon(1, 0, 1e-5), ConfigError);
  EXPECT_THROW((void)PeaEpsilon(1, 1, 1), ConfigError);
  EXPECT_THROW((void)PeaNoiseMultiplier(kNan, 1, 1e-5), ConfigError);
}

TEST(Pea, MeetsTheTargetInDoublePrecision) {
  for (double target = 0.1; target < 20; target *= 1.0137) {
    EXPECT_LE(PeaEpsilon(PeaNoiseMultiplier(target, 439, 1e-5), 439, 1e-5), target) << target;
  }
}

TEST(Pea, IsNotBelowTheExactClosedForm) {
  for (int steps = 1; steps < 200; ++steps) {
    for (const double delta : {1e-2, 1e-5, 3.3e-9}) {
      const double sigma = 20 + steps / 7.0;
      const long double exact =
          2 * std::sqrt(static_cast<long double>(steps) * -std::log(static_cast<long double>(delta))) /
          static_cast<long double>(sigma);
      EXPECT_GE(PeaEpsilon(sigma, steps, delta), exact);
      EXPECT_LE(PeaEpsilon(sigma, steps, delta), exact * (1 + 0x1p-48L));
    }
  }
}

TEST(PeaAccountant, IsTheClosedFormWhateverTheRate) {
  EXPECT_NEAR(EpsilonByPea({SampledGaussian{1, 40, 100}}, 1e-5), PeaEpsilon(40, 100, 1e-5), 1e-14);
  EXPECT_NEAR(EpsilonByPea({SampledGaussian{0.01, 40, 60}, SampledGaussian{0.5, 40, 40}}, 1e-5),
              PeaEpsilon(40, 100, 1e-5), 1e-14);
  EXPECT_EQ(EpsilonByPea({SampledGaussian{0, 0, 100}}, 1e-5), 0);
  EXPECT_EQ(EpsilonByPea({}, 1e-5), 0);
}

TEST(PeaAccountant, AddsTheConcentratedPrivacyOfUnlikeEvents) {
  // rho = 10 / (2 * 400) + 2 * 0.01 / 2 + 3 / (2 * 100)
  const double rho = 0.0125 + 0.01 + 0.015;
  EXPECT_NEAR(EpsilonByPea({SampledGaussian{1, 20, 10}, PureDp{0.1, 2}, Laplace{10, 3}}, 1e-5),
              2 * std::sqrt(2 * rho * std::log(1e5)), 1e-12);
}

TEST(PeaAccountant, ChargesDivergenceAndTotalVariation) {
  const SampledGaussian noise{1, 40, 100};
  const double epsilon = EpsilonByPea({noise, MaxDivergence{0.01, 2}, TotalVariation{1e-8, 3}}, 1e-5);
  const double inner = std::exp(-0.02) * (1e-5 - (1 + std::exp(epsilon)) * 3e-8);
  EXPECT_NEAR(epsilon, PeaEpsilon(40, 100, inner) + 0.04, 1e-8);
  EXPECT_EQ(EpsilonByPea({noise, TotalVariation{1e-5, 1}}, 1e-5), kInfinity);
}

TEST(PeaAccountant, ClaimsNothingBeyondItsRange) {
  const double limit = 2.3 * std::log(1e5);
  EXPECT_LT(EpsilonByPea({SampledGaussian{1, PeaNoiseMultiplier(0.999 * limit, 100, 1e-5), 100}}, 1e-5),
            limit);
  EXPECT_EQ(
      EpsilonByPea({SampledGaussian{1, PeaNoiseMultiplier(0.999 * limit, 100, 1e-5) * 0.99, 100}}, 1e-5),
      kInfinity);
  EXPECT_EQ(EpsilonByPea({SampledGaussian{1, 0, 1}}, 1e-5), kInfinity);
  EXPECT_EQ(EpsilonByPea({Laplace{0, 1}}, 1e-5), kInfinity);
}

TEST(PeaAccountant, RefusesWhatIsOutsideItsDomain) {
  PeaAccountant accountant;
  EXPECT_THROW(accountant.Add(SampledGaussian{1, kNan, 1}), ConfigError);
  EXPECT_THROW((void)accountant.Epsilon(0), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp

#include "dp/accounting/any_accountant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace trefoil::dp {
namespace {

double EpsilonOf(AccountantKind kind, const SampledGaussian& event, double delta) {
  AnyAccountant accountant(kind);
  accountant.Add(event);
  return accountant.Epsilon(delta).epsilon;
}

TEST(AnyAccountant, IsTheOneThatItIsNamed) {
  const SampledGaussian event{0.04, 1.5, 2250};
  EXPECT_NEAR(EpsilonOf(AccountantNamed("rdp"), event, 1e-5), 7.32911117, 1e-5);
  EXPECT_NEAR(EpsilonOf(AccountantNamed("pld"), event, 1e-5), 6.768787, 0.0067);
  EXPECT_NEAR(EpsilonOf(AccountantNamed("pea"), {1, 150, 2250}, 1e-5), PeaEpsilon(150, 2250, 1e-5), 1e-12);
  for (const auto kind : {AccountantKind::kRdp, AccountantKind::kPld, AccountantKind::kPea})
    EXPECT_EQ(AccountantNamed(NameOf(kind)), kind);
  EXPECT_THROW((void)AccountantNamed("moments"), ConfigError);
}

TEST(AnyAccountant, AnswersNothingAndEverythingAlike) {
  for (const auto kind : {AccountantKind::kRdp, AccountantKind::kPld, AccountantKind::kPea}) {
    EXPECT_EQ(AnyAccountant(kind).Epsilon(1e-5).epsilon, 0);
    EXPECT_EQ(EpsilonOf(kind, {0.1, 0, 1}, 1e-5), std::numeric_limits<double>::infinity());
    EXPECT_EQ(EpsilonOf(kind, {0.1, 0, 0}, 1e-5), 0);
    AnyAccountant accountant(kind);
    EXPECT_THROW(accountant.Add(SampledGaussian{2, 1, 1}), ConfigError);
    EXPECT_THROW((void)accountant.Epsilon(0), ConfigError);
    EXPECT_EQ(accountant.Epsilon(1e-5).epsilon, 0);
  }
}

struct Target {
  const char* name;
  double epsilon, delta, q;
  std::int64_t steps;
};

class CalibrateTest : public testing::TestWithParam<Target> {};

TEST_P(CalibrateTest, ReturnsTheSmallestMultiplierThatMeetsTheTarget) {
  const auto& target = GetParam();
  for (const auto kind : {AccountantKind::kRdp, AccountantKind::kPea}) {
    if (kind == AccountantKind::kPea && target.epsilon > 20) continue;  // beyond its range
    const double sigma = CalibrateNoiseMultiplier(target.epsilon, target.delta, target.q, target.steps, kind);
    EXPECT_LE(EpsilonOf(kind, {target.q, sigma, target.steps}, target.delta), target.epsilon);
    EXPECT_GT(EpsilonOf(kind, {target.q, sigma * (1 - 1.1e-4), target.steps}, target.delta), target.epsilon);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, CalibrateTest,
    testing::Values(Target{"mnist", 3, 1e-5, 2048.0 / 60000, 439}, Target{"adult", 1, 1e-5, 0.05, 500},
                    Target{"strict", 0.05, 1e-6, 0.01, 10000}, Target{"very_strict", 1e-3, 1e-6, 1, 1},
                    Target{"loose", 200, 1e-5, 0.01, 100}, Target{"no_amplification", 3, 1e-5, 1, 439}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Calibrate, MeetsTheTargetByLossDistributions) {
  for (const auto& [epsilon, q, steps] : {std::tuple{3.0, 2048.0 / 60000, 439}, std::tuple{1.0, 1.0, 20}}) {
    const double sigma = CalibrateNoiseMultiplier(epsilon, 1e-5, q, steps, AccountantKind::kPld);
    EXPECT_LE(EpsilonOf(AccountantKind::kPld, {q, sigma, steps}, 1e-5), epsilon);
    EXPECT_GT(EpsilonOf(AccountantKind::kPld, {q, sigma * (1 - 5e-4), steps}, 1e-5), epsilon);
    EXPECT_LT(sigma, CalibrateNoiseMultiplier(epsilon, 1e-5, q, steps));
  }
}

TEST(Calibrate, RefusesWhatIsOutOfReach) {
  EXPECT_THROW((void)CalibrateNoiseMultiplier(1, 1e-9, 1, std::int64_t{1} << 60), ConfigError);
  EXPECT_EQ(CalibrateNoiseMultiplier(1, 1e-5, 0, 1000), 0.01);
}

}  // namespace
}  // namespace trefoil::dp

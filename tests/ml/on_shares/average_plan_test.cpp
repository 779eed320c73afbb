#include "ml/on_shares/average_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/support/error_text.h"

namespace trefoil::ml {
namespace {

AverageSettings Settings() {
  return {.owners = {2, 2, 1},
          .features = 123,
          .row_norm = 1,
          .solver = {.lambda = 1, .bias = false, .tolerance = 1e-6},
          .min_rows = 3000,
          .max_rows = 10'000,
          .scales = 16,
          .fraction_bits = 20,
          .epsilon = 0.1,
          .delta = 1e-6};
}

TEST(SumSensitivity, IsThePublishedOneInTheL1NormWithGapAndRounding) {
  const auto settings = Settings();
  const double exact = std::sqrt(123.0) * 2 / 6512 * std::ldexp(1.0, 20);
  const double gaps = std::sqrt(123.0) * 2e-6 * std::ldexp(1.0, 20);
  // Double precision's part of a gap is 12 sqrt(1 + 1/4) 2^-51 (10000 + 256 + 32 + 16) = 6.2e-11, of all
  // 1.5e-3.
  EXPECT_GE(SumSensitivity(settings, 6512), exact + gaps + 123);
  EXPECT_NEAR(SumSensitivity(settings, 6512), exact + gaps + 123, 2e-3);
}

TEST(MakeAveragePlan, ScalesEachNoiseToTheLeastSizeItIsFor) {
  const auto settings = Settings();
  const auto plan = MakeAveragePlan(settings);
  ASSERT_EQ(plan.shape.min_sizes.size(), 16U);
  EXPECT_EQ(plan.shape.min_sizes.front(), 3000);
  EXPECT_LT(plan.shape.min_sizes.back(), 10'000);
  for (std::size_t g = 0; g < plan.rates.size(); ++g) {
    const double epsilon = plan.rates[g].value() * SumSensitivity(settings, plan.shape.min_sizes[g]);
    EXPECT_LE(epsilon, 0.1);
    EXPECT_GT(epsilon, 0.0999);
  }
  ASSERT_EQ(plan.events.size(), 1U);
  const auto& event = std::get<dp::PureReleases>(plan.events[0]);
  EXPECT_LE(event.epsilon, 0.1);
  EXPECT_FALSE(plan.shape.noisy_size);
}

TEST(MakeAveragePlan, TakesTheSizesNoiseOutOfEpsilonAndItsFailureOutOfDelta) {
  auto settings = Settings();
  settings.size_epsilon = 0.02;
  const auto plan = MakeAveragePlan(settings);
  EXPECT_TRUE(plan.shape.noisy_size);
  const auto& event = std::get<dp::ApproximateReleases>(plan.events.at(0));
  EXPECT_LE(event.epsilon, 0.1);
  EXPECT_GT(event.epsilon, 0.0999);
  EXPECT_TRUE(event.insiders);
  // The margin covers the noise but for that failure: ln(1 / failure) scales and more.
  EXPECT_GT(static_cast<double>(plan.shape.margin), -std::log(event.failure) / 0.02);
  const auto epsilons = dp::Epsilons({"a", "b", plan.events}, settings.delta);
  EXPECT_LE(epsilons.insider, 0.1);
  EXPECT_EQ(epsilons.insider, epsilons.outsider);
  for (std::size_t g = 0; g < plan.rates.size(); ++g)
    EXPECT_LE(plan.rates[g].value() * SumSensitivity(settings, plan.shape.min_sizes[g]), 0.08 + 1e-9);
}

TEST(MakeAveragePlan, ChargesThePublishedNoiseWithTheTrueSensitivityAndGivesInsidersNothing) {
  auto settings = Settings();
  settings.noise = AverageNoise::kAsPublished;
  const auto plan = MakeAveragePlan(settings);
  const auto epsilons = dp::Epsilons({"a", "b", plan.events}, settings.delta);
  // sqrt(123) / 5 times the published 0.1, and the gap, rounding and tolerance.
  EXPECT_GT(epsilons.outsider, 0.1 * std::sqrt(123.0) / 5);
  EXPECT_LT(epsilons.outsider, 0.1 * std::sqrt(123.0) / 5 * 1.1);
  EXPECT_TRUE(std::isinf(epsilons.insider));
}

TEST(SumSensitivityL2, HasNoRootOfTheNumberOfWeights) {
  const auto settings = Settings();
  const double exact = (2.0 / 6512 + 2e-6) * std::ldexp(1.0, 20) + std::sqrt(123.0);
  const auto found = static_cast<double>(SumSensitivityL2(settings, 6512));
  EXPECT_GE(found, exact);
  EXPECT_LE(found, exact + 1.001);
}

/// delta at which noise of this multiplier on a sum of sensitivity 1 has epsilon: Balle and Wang (2018),
/// theorem 8.
double GaussianDelta(double sigma, double epsilon) {
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  return normal(1 / (2 * sigma) - epsilon * sigma) -
         std::exp(epsilon) * normal(-1 / (2 * sigma) - epsilon * sigma);
}

/// The exact delta of that after a pure choice of `pure`: randomised response dominates every one (Kairouz,
/// Oh, Viswanath 2015), so that the loss before the Gaussian's is pure or its negative.
double ComposedDelta(double sigma, double pure, double epsilon) {
  const double truth = 1 / (1 + std::exp(-pure));
  // A hockey stick of negative epsilon e is that of the other direction: delta(e) = 1 - e^e + e^e delta(-e).
  const auto delta = [&](double e) {
    return e >= 0 ? GaussianDelta(sigma, e) : 1 - std::exp(e) + std::exp(e) * GaussianDelta(sigma, -e);
  };
  return truth * delta(epsilon - pure) + (1 - truth) * delta(epsilon + pure);
}

AverageSettings GaussianSettings(std::optional<double> size_epsilon) {
  auto settings = Settings();
  settings.features = 88;
  settings.solver.bias = true;
  settings.epsilon = 1;
  settings.noise = AverageNoise::kGaussian;
  settings.accountant = dp::AccountantKind::kPld;
  settings.size_epsilon = size_epsilon;
  return settings;
}

// The split of delta, from its parts: half is the most that the size's noise may cost at epsilon, the rest is
// the sum's and the choice's together, and no more noise is added than that wants.
TEST(MakeAveragePlan, CalibratesGaussianNoiseForWhatTheSizeLeavesOfEpsilonAndDelta) {
  const auto settings = GaussianSettings(0.1);
  const auto plan = MakeAveragePlan(settings);
  ASSERT_EQ(plan.events.size(), 2U);
  const auto& size = std::get<dp::ApproximateReleases>(plan.events[0]);
  const auto& sum = std::get<dp::GaussianReleases>(plan.events[1]);
  EXPECT_LE(size.epsilon, 0.1);
  EXPECT_NEAR((1 + std::exp(1.0)) * size.failure, settings.delta / 2, 1e-18);
  EXPECT_EQ(sum.coordinates, 89);
  EXPECT_EQ(sum.count, 1);
  EXPECT_EQ(sum.sigma, plan.sigma);
  const double left = settings.delta / 2;
  EXPECT_LE(ComposedDelta(plan.sigma, size.epsilon, 1), left);
  EXPECT_GT(ComposedDelta(0.995 * plan.sigma, size.epsilon, 1), left);
  // The parts' deviation that the record says is the narrowest scale's.
  ASSERT_EQ(plan.sensitivities.size(), 16U);
  const double narrowest = plan.sigma * static_cast<double>(plan.sensitivities.back()) / std::sqrt(2.0);
  EXPECT_NEAR(sum.party_deviation, narrowest, 2);
  for (std::size_t g = 0; g < plan.sensitivities.size(); ++g)
    EXPECT_EQ(plan.sensitivities[g], SumSensitivityL2(settings, plan.shape.min_sizes[g]));
  EXPECT_LE(dp::Epsilons({"a", "b", plan.events}, settings.delta, settings.accountant).insider, 1);
}

TEST(MakeAveragePlan, CalibratesGaussianNoiseForAReplacedRecordWithAllOfBoth) {
  const auto settings = GaussianSettings(std::nullopt);
  const auto plan = MakeAveragePlan(settings);
  ASSERT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(std::get<dp::GaussianReleases>(plan.events[0]).sigma, plan.sigma);
  EXPECT_FALSE(plan.shape.noisy_size);
  EXPECT_LE(GaussianDelta(plan.sigma, 1), settings.delta);
  EXPECT_GT(GaussianDelta(0.9999 * plan.sigma, 1), settings.delta);
}

// 89 weights, epsilon 1: a third of the deviation of Laplace noise, for an insider.
TEST(MakeAveragePlan, NeedsAThirdOfTheDeviationWithGaussianNoise) {
  for (const std::optional<double> size_epsilon : {std::optional<double>(), std::optional(0.1)}) {
    const auto settings = GaussianSettings(size_epsilon);
    const auto gaussian = MakeAveragePlan(settings);
    auto laplace = settings;
    laplace.noise = AverageNoise::kLaplace;
    const auto rates = MakeAveragePlan(laplace).rates;
    for (std::size_t g = 0; g < rates.size(); ++g) {
      const double ratio = gaussian.sigma * static_cast<double>(gaussian.sensitivities[g]) /
                           (std::sqrt(2.0) / rates[g].value());
      EXPECT_LT(ratio, 0.36);
      EXPECT_GT(ratio, 0.25);
    }
  }
}

TEST(MakeAveragePlan, RefusesGaussianNoiseNarrowerThanTheLattice) {
  auto settings = GaussianSettings(std::nullopt);
  settings.fraction_bits = 8;
  settings.epsilon = 500;
  EXPECT_THROW((void)MakeAveragePlan(settings), ConfigError);
}

TEST(MakeAveragePlan, RefusesWhatItCannotDraw) {
  auto settings = Settings();
  settings.fraction_bits = 24;
  settings.epsilon = 0.01;
  EXPECT_THROW((void)MakeAveragePlan(settings), ConfigError);
  settings = Settings();
  settings.size_epsilon = 0.1;
  EXPECT_THROW((void)MakeAveragePlan(settings), ConfigError);
  settings = Settings();
  settings.solver.lambda = 1e-14;
  EXPECT_THROW((void)MakeAveragePlan(settings), ConfigError);
}

TEST(MakeAveragePlan, RefusesRowsOfWhichNoWeightHasADigit) {
  auto settings = Settings();
  settings.epsilon = 300;
  settings.solver.lambda = 4;
  settings.row_norm = 0x1.01p-18;
  EXPECT_NO_THROW((void)MakeAveragePlan(settings));
  settings.row_norm = 0x1p-18;
  EXPECT_EQ(testing_support::ErrorText<ConfigError>([&] { (void)MakeAveragePlan(settings); }),
            "features.row_norm: found 3.8147e-06, expected more than average.lambda times 2^-20, 3.8147e-06: "
            "at so many fraction_bits all weights could be 0 but the bias");
  settings.noise = AverageNoise::kAsPublished;
  EXPECT_THROW((void)MakeAveragePlan(settings), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/average_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace trefoil::ml {
namespace {

AverageSettings Settings() {
  return {.owners = {2, 2, 1},
          .features = 123,
          .row_norm = 1,
          .solver = {.lambda = 1, .bias = false, .tolerance = 1e-6},
          .least_rows = 3000,
          .most_rows = 10'000,
          .scales = 16,
          .fraction_bits = 20,
          .epsilon = 0.1,
          .delta = 1e-6};
}

TEST(SumSensitivity, IsThePublishedOneInTheL1NormWithGapAndRounding) {
  const auto settings = Settings();
  const double exact = std::sqrt(123.0) * 2 / 6512 * std::ldexp(1.0, 20);
  const double gaps = std::sqrt(123.0) * 2e-6 * std::ldexp(1.0, 20);
  // Double precision's part of the gap is some 1e-11 here.
  EXPECT_GE(SumSensitivity(settings, 6512), exact + gaps + 123);
  EXPECT_NEAR(SumSensitivity(settings, 6512), exact + gaps + 123, 1e-3);
}

TEST(MakeAveragePlan, ScalesEachNoiseToTheLeastSizeItIsFor) {
  const auto settings = Settings();
  const auto plan = MakeAveragePlan(settings);
  ASSERT_EQ(plan.shape.least_sizes.size(), 16U);
  EXPECT_EQ(plan.shape.least_sizes.front(), 3000);
  EXPECT_LT(plan.shape.least_sizes.back(), 10'000);
  for (std::size_t g = 0; g < plan.rates.size(); ++g) {
    const double epsilon = plan.rates[g].value() * SumSensitivity(settings, plan.shape.least_sizes[g]);
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
    EXPECT_LE(plan.rates[g].value() * SumSensitivity(settings, plan.shape.least_sizes[g]), 0.08 + 1e-9);
}

TEST(MakeAveragePlan, ChargesThePublishedNoiseWithTheTrueSensitivityAndGivesInsidersNothing) {
  auto settings = Settings();
  settings.as_published = true;
  const auto plan = MakeAveragePlan(settings);
  const auto epsilons = dp::Epsilons({"a", "b", plan.events}, settings.delta);
  // sqrt(123) / 5 times the published 0.1, and the gap, rounding and tolerance.
  EXPECT_GT(epsilons.outsider, 0.1 * std::sqrt(123.0) / 5);
  EXPECT_LT(epsilons.outsider, 0.1 * std::sqrt(123.0) / 5 * 1.1);
  EXPECT_TRUE(std::isinf(epsilons.insider));
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

}  // namespace
}  // namespace trefoil::ml

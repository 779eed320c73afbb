#include "ml/noise/average_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "protocols/arithmetic/reveal.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kFeatures = 2000;

AverageSettings Settings(std::optional<double> size_epsilon) {
  return {.owners = {1, 1, 1},
          .features = kFeatures,
          .row_norm = 1,
          .solver = {.lambda = 1, .bias = false, .tolerance = 1e-6},
          .min_rows = 100,
          .max_rows = 10'000,
          .scales = 8,
          .fraction_bits = 20,
          .epsilon = 1,
          .delta = 1e-6,
          .size_epsilon = size_epsilon,
          .noise = AverageNoise::kGaussian};
}

/// What each party brings: an owner of this size, no weights, and its noise.
std::array<OwnAverage, 3> Inputs(const AveragePlan& plan, std::uint64_t size) {
  std::array<OwnAverage, 3> inputs;
  std::uint8_t key = 1;
  for (auto& own : inputs) {
    own.sizes = RingMatrix::Constant(1, 1, size);
    own.weights = RingMatrix::Zero(1, plan.shape.weights);
    DrawNoise(
        plan, [&key] { return RandomStream(FixedKey(key++)); }, own);
  }
  return inputs;
}

/// sqrt(n) times the largest distance between the values' distribution and the normal one of this deviation:
/// above 3 by chance with probability below 2 exp(-18) = 4e-8 (Massart's constant in Dvoretzky, Kiefer,
/// Wolfowitz).
double Distance(const RingMatrix& values, double deviation) {
  std::vector<double> sorted;
  for (Index k = 0; k < values.size(); ++k)
    sorted.push_back(static_cast<double>(mpc::Signed(values.data()[k])) / deviation);
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  double largest = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const double below = std::erfc(-sorted[k] / std::sqrt(2.0)) / 2;
    largest = std::max({largest, std::abs(below - static_cast<double>(k) / count),
                        std::abs(below - static_cast<double>(k + 1) / count)});
  }
  return std::sqrt(count) * largest;
}

// The noise that the parties select on shares, as it is opened: an outsider's has 3/2 of the variance that
// remains for an insider, which takes its own off. Narrower noise by a tenth is seen: it is 0.023 away, 1.03
// of Distance's units with 2,000 numbers; the variances below see it.
TEST(DrawNoise, IsGaussianOfTheScaleThatTheSmallestSizeAllows) {
  const auto plan = MakeAveragePlan(Settings(std::nullopt));
  ASSERT_EQ(plan.shape.min_sizes.size(), 8U);
  for (std::size_t g = 0; g < plan.shape.min_sizes.size(); ++g) {
    const auto size = static_cast<std::uint64_t>(plan.shape.min_sizes[g]);
    const auto inputs = Inputs(plan, size);
    const auto opened = RunParties(Seed{5}, [&](mpc::Context& party) {
      return protocols::Reveal(
          party, NoisyClassifierSum(party, plan.shape, inputs.at(static_cast<std::size_t>(party.self()))),
          protocols::ReleaseReason::kTest);
    })[0];
    const double deviation = plan.sigma * static_cast<double>(plan.sensitivities[g]);
    EXPECT_LT(Distance(opened, deviation * std::sqrt(1.5)), 3) << g;
    for (const auto& own : inputs) {
      const RingMatrix left = opened - own.noise.values().row(static_cast<Index>(g));
      EXPECT_LT(Distance(left, deviation), 3) << g;
    }
  }
}

/// The mean square of a scale's noise of parties `first` and up over what two parties' has, over many draws.
double Variance(const AveragePlan& plan, Index scale, std::size_t first) {
  double sum = 0;
  std::int64_t count = 0;
  std::uint8_t key = 1;
  for (int trial = 0; trial < 10; ++trial) {
    RingMatrix noise = RingMatrix::Zero(1, plan.shape.weights);
    for (std::size_t party = first; party < 3; ++party) {
      OwnAverage own;
      DrawNoise(
          plan, [&key] { return RandomStream(FixedKey(key++)); }, own);
      noise += own.noise.values().row(scale);
    }
    const double deviation =
        plan.sigma * static_cast<double>(plan.sensitivities[static_cast<std::size_t>(scale)]);
    for (Index k = 0; k < noise.size(); ++k) {
      const double value = static_cast<double>(mpc::Signed(noise.data()[k])) / deviation;
      sum += value * value;
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

// 20,000 squares of normal variables: their mean has deviation sqrt(2 / 20000) = 0.01 of itself, and is off
// by 0.055 with probability below 1e-7.
TEST(DrawNoise, HasTheVarianceOfEveryScaleWithTwoPartiesAndWithThree) {
  auto settings = Settings(std::nullopt);
  settings.scales = 2;
  const auto plan = MakeAveragePlan(settings);
  for (const Index scale : {0, 1}) {
    EXPECT_NEAR(Variance(plan, scale, 1), 1, 0.055);
    EXPECT_NEAR(Variance(plan, scale, 0), 1.5, 1.5 * 0.055);
  }
}

TEST(DrawNoise, BlursTheSmallestSizeWhereThatMayChange) {
  const auto plan = MakeAveragePlan(Settings(0.1));
  ASSERT_TRUE(plan.shape.noisy_size);
  // A part is zero with probability below 1/10 at this rate; all three with probability below 1e-3, and the
  // keys are fixed.
  bool some = false;
  for (const auto& own : Inputs(plan, 500)) some = some || own.size_noise.values()(0, 0) != 0;
  EXPECT_TRUE(some);
  for (const auto& own : Inputs(MakeAveragePlan(Settings(std::nullopt)), 500))
    EXPECT_EQ(own.size_noise.values()(0, 0), 0U);
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/plan/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <ostream>
#include <string>

namespace trefoil::ml {
namespace {

struct RateCase {
  std::string name;
  RateSchedule schedule;
  std::function<double(double)> exact;  ///< of the fraction of all steps that is done
};

void PrintTo(const RateCase& c, std::ostream* out) { *out << c.name; }

class RateTest : public testing::TestWithParam<RateCase> {};

/// At scale 2^30 a rate is exact to a few units; the cosine's table is to 3e-7.
TEST_P(RateTest, IsThatOfTheFormula) {
  const RateCase& c = GetParam();
  for (const std::int64_t steps : {1, 2, 7, 439, 10'000'000}) {
    const std::int64_t stride = std::max<std::int64_t>(1, steps / 97);
    for (std::int64_t step = 0; step < steps; step += stride) {
      const double rate = std::ldexp(static_cast<double>(RateAt(c.schedule, step, steps)), -30);
      EXPECT_NEAR(rate, c.exact(static_cast<double>(step) / static_cast<double>(steps)), 5e-7)
          << step << " of " << steps;
    }
  }
}

TEST_P(RateTest, BeginsWithThePeakAndNeverRises) {
  const RateSchedule& schedule = GetParam().schedule;
  std::uint64_t before = 4095;
  EXPECT_EQ(ScheduledMantissa(schedule, before, 0, 500), before);
  for (std::int64_t step = 1; step < 500; ++step) {
    const std::uint64_t mantissa = ScheduledMantissa(schedule, 4095, step, 500);
    EXPECT_LE(mantissa, before);
    EXPECT_GE(mantissa, 1U);
    before = mantissa;
  }
}

double Cosine(double done) { return (1 + std::cos(std::numbers::pi * done)) / 2; }

INSTANTIATE_TEST_SUITE_P(
    Shapes, RateTest,
    testing::Values(RateCase{"constant", {}, [](double) { return 1.0; }},
                    RateCase{"linear", {.shape = RateShape::kLinear}, [](double done) { return 1 - done; }},
                    RateCase{"linear_to_a_tenth",
                             {.shape = RateShape::kLinear, .final_rate = 0.1},
                             [](double done) { return 1 - 0.9 * done; }},
                    RateCase{"linear_to_the_same",
                             {.shape = RateShape::kLinear, .final_rate = 1},
                             [](double) { return 1.0; }},
                    RateCase{"cosine", {.shape = RateShape::kCosine}, Cosine},
                    RateCase{"cosine_to_a_quarter",
                             {.shape = RateShape::kCosine, .final_rate = 0.25},
                             [](double done) { return 0.25 + 0.75 * Cosine(done); }}),
    [](const auto& info) { return info.param.name; });

TEST(RateAt, FallsByAFactorEverySoManySteps) {
  const RateSchedule schedule{.shape = RateShape::kStep, .decay_every = 10, .decay_factor = 0.7};
  for (std::int64_t step = 0; step < 200; ++step) {
    const double rate = std::ldexp(static_cast<double>(RateAt(schedule, step, 200)), -30);
    EXPECT_NEAR(rate, std::pow(0.7, static_cast<double>(step / 10)), 1e-7) << step;
  }
}

TEST(ScheduledMantissa, RoundsToTheNearestAndIsNeverZero) {
  const RateSchedule linear{.shape = RateShape::kLinear};
  EXPECT_EQ(ScheduledMantissa(linear, 100, 1, 3), 67U);
  EXPECT_EQ(ScheduledMantissa(linear, 100, 2, 3), 33U);
  EXPECT_EQ(ScheduledMantissa(linear, 100, 9'999'999, 10'000'000), 1U);
}

}  // namespace
}  // namespace trefoil::ml

#include "data/columns/target.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trefoil::data {
namespace {

TEST(StepsOf, ReadsBackWithinHalfAStepAndRefusesWhatIsOutside) {
  for (const TargetRange range : {TargetRange{0, 1}, TargetRange{-3, 29}, TargetRange{1e6, 1e6 + 0.5}}) {
    const double width = range.high - range.low;
    EXPECT_EQ(StepsOf(range, range.low), 0);
    EXPECT_EQ(StepsOf(range, range.high), 1 << kTargetBits);
    for (int k = 0; k <= 1000; ++k) {
      const double target = range.low + width * k / 1000;
      const auto steps = StepsOf(range, target);
      ASSERT_TRUE(steps) << k;
      EXPECT_NEAR(TargetOfSteps(range, *steps), target, std::ldexp(width, -25) * 1.001);
    }
    for (const double outside : {std::nextafter(range.low, -INFINITY), std::nextafter(range.high, INFINITY),
                                 std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL})
      EXPECT_EQ(StepsOf(range, outside), std::nullopt) << outside;
  }
}

TEST(FlawOf, WantsALowerEndBelowTheUpperAtAFiniteDistance) {
  EXPECT_FALSE(FlawOf(TargetRange{-1, 2}));
  EXPECT_TRUE(FlawOf(TargetRange{1, 1}));
  EXPECT_TRUE(FlawOf(TargetRange{2, 1}));
  EXPECT_TRUE(FlawOf(TargetRange{-1e308, 1e308}));
  EXPECT_TRUE(FlawOf(TargetRange{std::nan(""), 1}));
}

}  // namespace
}  // namespace trefoil::data

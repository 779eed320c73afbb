#include "data/demo/digit_strokes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

TEST(GlyphsOf, DescribesEveryDigitInsideTheUnitSquare) {
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_GE(GlyphsOf(digit).size(), 2U) << digit;
    for (const auto& glyph : GlyphsOf(digit)) {
      ASSERT_FALSE(glyph.empty());
      for (const auto& stroke : glyph) {
        EXPECT_GE(stroke.points.size(), 2U);
        for (const auto& [x, y] : stroke.points) EXPECT_TRUE(x > 0 && x < 1 && y > 0 && y < 1) << digit;
      }
    }
  }
}

TEST(GlyphsOf, RefusesWhatIsNoDigit) {
  EXPECT_THROW((void)GlyphsOf(-1), ContractError);
  EXPECT_THROW((void)GlyphsOf(10), ContractError);
}

}  // namespace
}  // namespace trefoil::data

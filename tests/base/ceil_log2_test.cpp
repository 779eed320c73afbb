#include "base/ceil_log2.h"

#include <gtest/gtest.h>

#include <limits>

namespace trefoil {
namespace {

TEST(CeilLog2, IsTheLeastPowerOfTwoFromTheNumberUpAlsoBesideOne) {
  for (int n = -1022; n <= 1023; ++n) {
    const double power = std::ldexp(1.0, n);
    ASSERT_EQ(CeilLog2(power), n);
    ASSERT_EQ(CeilLog2(std::nextafter(power, 0)), n);
    ASSERT_EQ(CeilLog2(std::nextafter(power, std::numeric_limits<double>::infinity())), n + 1);
  }
  EXPECT_EQ(CeilLog2(3), 2);
  EXPECT_EQ(CeilLog2(std::numeric_limits<double>::denorm_min()), -1074);
}

TEST(CeilLog2, RefusesWhatHasNoLogarithm) {
  for (const double x : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_THROW((void)CeilLog2(x), ContractError) << x;
}

}  // namespace
}  // namespace trefoil

#include "mpc/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Encode, RoundsToTheNearestTiesAwayFromZero) {
  EXPECT_EQ(Signed(Encode(1.5, 16, 10)), 98304);
  EXPECT_EQ(Signed(Encode(0.5, 0, 10)), 1);
  EXPECT_EQ(Signed(Encode(-0.5, 0, 10)), -1);
  EXPECT_EQ(Signed(Encode(2.5, 0, 10)), 3);
  EXPECT_EQ(Signed(Encode(0.49, 0, 10)), 0);
  EXPECT_EQ(Signed(Encode(-0.0, 8, 10)), 0);
}

TEST(Encode, TakesTheWholeDeclaredRangeAndNoMore) {
  EXPECT_EQ(Signed(Encode(10, 8, 10)), 2560);
  EXPECT_EQ(Signed(Encode(-10, 8, 10)), -2560);
  EXPECT_THROW((void)Encode(std::nextafter(10.0, 11.0), 8, 10), DataError);
  EXPECT_THROW((void)Encode(-10.001, 8, 10), DataError);
}

TEST(Encode, RefusesWhatIsNotFinite) {
  EXPECT_THROW((void)Encode(std::nan(""), 16, 10), DataError);
  EXPECT_THROW((void)Encode(kInfinity, 16, 10), DataError);
  EXPECT_THROW((void)Encode(-kInfinity, 16, 10), DataError);
}

TEST(Encode, RefusesRangesThatReach2To62) {
  EXPECT_NO_THROW((void)Encode(0, 16, std::ldexp(1.0, 45)));
  EXPECT_THROW((void)Encode(0, 16, std::ldexp(1.0, 46)), ContractError);
  EXPECT_THROW((void)Encode(0, 16, kInfinity), ContractError);
  EXPECT_THROW((void)Encode(0, 16, std::nan("")), ContractError);
  EXPECT_THROW((void)Encode(0, -1, 1), ContractError);
}

TEST(Decode, UndoesEncodeWithinHalfAUnit) {
  Eigen::MatrixXd values(2, 3);
  values << 0, 1.0 / 3, -1.0 / 3, 99.99, -99.99, 1e-9;
  for (const int f : {8, 16, 24}) {
    const Eigen::MatrixXd back = Decode(Encode(values, f, 100), f);
    EXPECT_LE((back - values).cwiseAbs().maxCoeff(), std::ldexp(0.5, -f));
  }
  EXPECT_EQ(Decode(~Word{0}, 1), -0.5);
}

TEST(FixedShare, AddsAndSubtractsAtOneScaleOnly) {
  const FixedShare a(ArithShare::Zero(2, 2), 16);
  const FixedShare b(ArithShare::Zero(2, 2), 20);
  EXPECT_EQ((a + a).frac_bits(), 16);
  EXPECT_EQ((b - b).frac_bits(), 20);
  EXPECT_THROW((void)(a + b), ContractError);
  EXPECT_THROW((void)(a - b), ContractError);
  EXPECT_THROW((void)(a + FixedShare(ArithShare::Zero(2, 1), 16)), ContractError);
}

TEST(FixedShare, RefusesScalesOutsideTheRing) {
  EXPECT_THROW((void)FixedShare(ArithShare(), -1), ContractError);
  EXPECT_THROW((void)FixedShare(ArithShare(), 63), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc

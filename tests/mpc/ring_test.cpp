#include "mpc/ring.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::RandomWords;

TEST(Signed, IsTwosComplement) {
  EXPECT_EQ(Signed(0), 0);
  EXPECT_EQ(Signed(~Word{0}), -1);
  EXPECT_EQ(Signed(Word{1} << 63), std::numeric_limits<std::int64_t>::min());
}

TEST(RingMatrix, ComputesModulo2To64) {
  const RingMatrix most = RingMatrix::Constant(2, 3, ~Word{0});
  EXPECT_TRUE((most + most == ~Word{1}).all());
  EXPECT_TRUE((most * most == 1).all());
}

TEST(Reshaped, KeepsTheElementsRowByRow) {
  const RingMatrix x = RandomWords(1, 3, 4);
  const RingMatrix y = Reshaped(x, 2, 6);
  EXPECT_EQ(y(0, 4), x(1, 0));
  EXPECT_EQ(y(1, 5), x(2, 3));
  EXPECT_EQ(Reshaped(RingMatrix(0, 5), 3, 0).rows(), 3);
}

TEST(Reshaped, RefusesAnotherNumberOfElements) {
  EXPECT_THROW((void)Reshaped(RandomWords(1, 3, 4), 3, 3), ContractError);
  EXPECT_THROW((void)Reshaped(RandomWords(1, 3, 4), -3, -4), ContractError);
}

TEST(Stacked, PutsOneBelowTheOther) {
  const RingMatrix top = RandomWords(1, 2, 3);
  const RingMatrix bottom = RandomWords(2, 1, 3);
  const RingMatrix both = Stacked(top, bottom);
  ASSERT_EQ(both.rows(), 3);
  EXPECT_TRUE((both.topRows(2) == top).all());
  EXPECT_TRUE((both.bottomRows(1) == bottom).all());
}

TEST(SideBySide, PutsOneToTheRightOfTheOther) {
  const RingMatrix left = RandomWords(1, 2, 3);
  const RingMatrix right = RandomWords(2, 2, 1);
  const RingMatrix both = SideBySide(left, right);
  ASSERT_EQ(both.cols(), 4);
  EXPECT_TRUE((both.leftCols(3) == left).all());
  EXPECT_TRUE((both.rightCols(1) == right).all());
  EXPECT_THROW((void)SideBySide(left, RingMatrix::Zero(1, 3)), ContractError);
}

TEST(Stacked, TakesAMatrixWithoutRowsWhateverItsColumns) {
  const RingMatrix x = RandomWords(1, 2, 3);
  EXPECT_TRUE((Stacked(RingMatrix(), x) == x).all());
  EXPECT_TRUE((Stacked(x, RingMatrix()) == x).all());
  EXPECT_THROW((void)Stacked(x, RingMatrix::Zero(1, 2)), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc

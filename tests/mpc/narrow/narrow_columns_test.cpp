#include "mpc/narrow/narrow_columns.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(NarrowColumns, AreTakenModuloTheirWidthAndTheOthersLeft) {
  const RingMatrix x = RandomWords(1, 5, 4);
  for (const int width : {1, 8, 40, 63}) {
    RingMatrix reduced = x;
    Reduce({.columns = 3, .width = width}, reduced);
    const Word low = (Word{1} << width) - 1;
    for (Index row = 0; row < 5; ++row) {
      for (Index col = 0; col < 4; ++col)
        EXPECT_EQ(reduced(row, col), col < 3 ? x(row, col) & low : x(row, col));
    }
  }
  RingMatrix whole = x;
  Reduce({.columns = 3, .width = 64}, whole);
  EXPECT_TRUE((whole == x).all());
}

TEST(NarrowColumns, TakeTheirBitsOnTheWireAndTheOthersWords) {
  EXPECT_EQ(WireBytes({}, 5, 4), 8U * 20);
  EXPECT_EQ(WireBytes({.columns = 3, .width = 64}, 5, 4), 8U * 20);
  EXPECT_EQ(WireBytes({.columns = 3, .width = 40}, 5, 4), 5U * 15 + 8U * 5);
  EXPECT_EQ(WireBytes({.columns = 4, .width = 9}, 5, 4), 23U) << "180 bits";
  EXPECT_EQ(WireBytes({.columns = 3, .width = 40}, 0, 0), 0U);
}

TEST(NarrowColumns, RefuseColumnsThatAreNotThereAndOtherWidths) {
  RingMatrix x = RandomWords(1, 2, 2);
  EXPECT_THROW(Reduce({.columns = 3, .width = 40}, x), ContractError);
  EXPECT_THROW(Reduce({.columns = 1, .width = 0}, x), ContractError);
  EXPECT_THROW((void)WireBytes({.columns = 3, .width = 40}, 2, 2), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc

#include "mpc/narrow/narrow_columns.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

TEST(NarrowColumns, TakeTheirBitsOnTheWireAndTheOthersWords) {
  EXPECT_EQ(WireBytes({}, 5, 4), 8U * 20);
  EXPECT_EQ(WireBytes({.columns = 3, .width = 64}, 5, 4), 8U * 20);
  EXPECT_EQ(WireBytes({.columns = 3, .width = 40}, 5, 4), 5U * 15 + 8U * 5);
  EXPECT_EQ(WireBytes({.columns = 4, .width = 9}, 5, 4), 23U) << "180 bits";
  EXPECT_EQ(WireBytes({.columns = 3, .width = 40}, 0, 0), 0U);
}

TEST(NarrowColumns, RefuseColumnsThatAreNotThereAndOtherWidths) {
  EXPECT_NO_THROW(RequireFits({.columns = 2, .width = 64}, 2));
  EXPECT_THROW(RequireFits({.columns = 3, .width = 40}, 2), ContractError);
  EXPECT_THROW(RequireFits({.columns = -1, .width = 40}, 2), ContractError);
  EXPECT_THROW(RequireFits({.columns = 1, .width = 0}, 2), ContractError);
  EXPECT_THROW(RequireFits({.columns = 1, .width = 65}, 2), ContractError);
  EXPECT_THROW((void)WireBytes({.columns = 3, .width = 40}, 2, 2), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc

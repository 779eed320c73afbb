#include "data/repeated_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

TEST(CountRepeatedRows, CountsThoseThatWereThereBefore) {
  Matrix x(6, 2);
  x << 1, 2, 1, 2, 2, 1, 1, 2, 1, 2, 2, 1;
  EXPECT_EQ(CountRepeatedRows(x, {0, 0, 0, 1, 0, 0}), 3);  // the label is part of the row
  EXPECT_EQ(CountRepeatedRows(x.topRows(1), {0}), 0);
  EXPECT_EQ(CountRepeatedRows(Matrix(0, 2), {}), 0);
  EXPECT_THROW((void)CountRepeatedRows(x, {0}), ContractError);
}

}  // namespace
}  // namespace trefoil::data

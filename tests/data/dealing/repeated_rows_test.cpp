#include "data/dealing/repeated_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/dataset/table.h"

namespace trefoil::data {
namespace {

std::int64_t Count(const Matrix& x, const std::vector<int>& y) {
  const auto read = [&x](std::size_t row, std::span<float> out) {
    std::copy_n(x.row(static_cast<Eigen::Index>(row)).begin(), out.size(), out.begin());
  };
  return CountRepeatedRows(read, static_cast<std::size_t>(x.cols()), y);
}

TEST(CountRepeatedRows, CountsThoseThatWereThereBefore) {
  Matrix x(6, 2);
  x << 1, 2, 1, 2, 2, 1, 1, 2, 1, 2, 2, 1;
  EXPECT_EQ(Count(x, {0, 0, 0, 1, 0, 0}), 3);  // the label is part of the row
  EXPECT_EQ(Count(x.topRows(1), {0}), 0);
  EXPECT_EQ(Count(Matrix(0, 2), {}), 0);
}

}  // namespace
}  // namespace trefoil::data

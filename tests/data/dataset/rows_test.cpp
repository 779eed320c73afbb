#include "data/dataset/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"

namespace trefoil::data {
namespace {

TEST(ScaleRowsTo, ScalesLongRowsAndKeepsOthers) {
  Matrix x(3, 2);
  x << 3, 4, 0.3F, 0.4F, 0, 0;
  const Matrix before = x;
  ScaleRowsTo(x, 1.0);
  EXPECT_FLOAT_EQ(x(0, 0), 0.6F);
  EXPECT_FLOAT_EQ(x(0, 1), 0.8F);
  EXPECT_EQ(x.bottomRows(2), before.bottomRows(2));
}

TEST(ScaleRowTo, IsWhatItsMatrixGets) {
  std::mt19937 random(2);
  Matrix x(50, 7);
  for (auto& value : x.reshaped()) value = static_cast<float>(random()) / 1e10F;
  Matrix rows = x;
  ScaleRowsTo(x, 0.7);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) ScaleRowTo({&rows(i, 0), 7}, 0.7);
  EXPECT_EQ(rows, x);
}

TEST(ScaleRowsTo, NeverExceedsTheBoundAfterRounding) {
  std::mt19937 random(1);
  Matrix x(5000, 7);
  for (auto& value : x.reshaped()) value = static_cast<float>(random()) / 1e9F + 0.5F;
  ScaleRowsTo(x, 0.7);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double norm = x.row(i).cast<double>().norm();
    ASSERT_LE(norm, 0.7);
    ASSERT_GT(norm, 0.7 * (1 - 4e-7));
  }
}

TEST(ScaleRowsTo, HandlesTheLargestFloats) {
  Matrix x = Matrix::Constant(1, 4, 3e38F);
  ScaleRowsTo(x, 1.0);
  EXPECT_FLOAT_EQ(x(0, 3), 0.5F);
}

TEST(NormaliseRowsTo, ScalesShortRowsUpAndLongOnesDown) {
  Matrix x(3, 2);
  x << 3, 4, 0.0003F, 0.0004F, 0, 0;
  NormaliseRowsTo(x, 2.0);
  EXPECT_FLOAT_EQ(x(0, 0), 1.2F);
  EXPECT_FLOAT_EQ(x(1, 1), 1.6F);
  EXPECT_EQ(x.row(2), Matrix::Zero(1, 2));
}

TEST(NormaliseRowsTo, NeverExceedsTheBoundAfterRounding) {
  std::mt19937 random(2);
  Matrix x(5000, 7);
  for (auto& value : x.reshaped()) value = static_cast<float>(random()) / 1e11F;
  NormaliseRowsTo(x, 0.7);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double norm = x.row(i).cast<double>().norm();
    ASSERT_LE(norm, 0.7);
    ASSERT_GT(norm, 0.7 * (1 - std::ldexp(1.0, -21)));
  }
}

TEST(NormaliseRowsTo, RefusesABoundOfZero) {
  Matrix x(1, 1);
  EXPECT_THROW(NormaliseRowsTo(x, 0), ContractError);
}

TEST(ScaleRowsTo, RefusesABoundOfZero) {
  Matrix x(1, 1);
  EXPECT_THROW(ScaleRowsTo(x, 0), ContractError);
}

}  // namespace
}  // namespace trefoil::data

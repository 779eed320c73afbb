#pragma once
#include <Eigen/Core>
#include <vector>

namespace trefoil::data {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Data in the clear at its owner: one row of features a record, and its class in 0..classes-1.
struct Table {
  Matrix x;
  std::vector<int> y;
};

}  // namespace trefoil::data

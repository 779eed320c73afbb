#pragma once
#include <Eigen/Core>
#include <string>
#include <vector>

namespace trefoil::data {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Data in the clear at its owner: one row of features a record, and its class in 0..classes-1, or its target
/// in steps (data/columns/target.h); none where labels were ignored.
struct Table {
  Matrix x;
  std::vector<int> y;
  std::vector<std::vector<std::string>> texts{};  ///< where there are columns of text: those of each record
  std::vector<std::string> keys{};                ///< where there is a key column
  std::vector<double> weights{};  ///< where there is a column of weights; none where labels were ignored
};

/// What becomes of a data set's labels, and of its weights. Where they are ignored they may be missing, and
/// are not looked at if
/// they are there.
enum class LabelUse { kRead, kIgnored };

/// A feature of greater magnitude, after scaling, is refused: it is a mistake, and its square must stay
/// finite in a float.
inline constexpr double kLargestValue = 1e9;

}  // namespace trefoil::data

#include "ml/clear/gram.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trefoil::ml {

Eigen::MatrixXd GramOf(const Eigen::MatrixXd& a, ThreadPool& pool) {
  using Eigen::Index;
  constexpr Index kTile = 256;  // columns of a product that one thread makes
  std::vector<std::pair<Index, Index>> tiles;
  for (Index row = 0; row < a.cols(); row += kTile) {
    for (Index column = 0; column <= row; column += kTile) tiles.emplace_back(row, column);
  }
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  const auto width = [&](Index first) { return std::min(kTile, a.cols() - first); };
  pool.ParallelFor(tiles.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto [row, column] = tiles[k];
      gram.block(row, column, width(row), width(column)).noalias() =
          a.middleCols(row, width(row)).transpose() * a.middleCols(column, width(column));
    }
  });
  return gram;
}

}  // namespace trefoil::ml

#include "ml/batches/shared_rows.h"

#include <utility>

#include "base/error.h"

namespace trefoil::ml {

mpc::ArithShare RowsAt(std::span<const mpc::ArithShare> data, const std::vector<std::int64_t>& rows,
                       std::int64_t height) {
  Require(!data.empty(), "RowsAt: a matrix to take rows of");
  const auto taken = static_cast<mpc::Index>(rows.size());
  Require(taken <= height, "RowsAt: at most as many rows as the height");
  mpc::RingMatrix own(height, data.front().cols());
  mpc::RingMatrix next(own.rows(), own.cols());
  own.bottomRows(height - taken).setZero();
  next.bottomRows(height - taken).setZero();
  for (mpc::Index k = 0; k < taken; ++k) {
    std::int64_t row = rows[static_cast<std::size_t>(k)];
    auto from = data.begin();
    for (; from != data.end() && row >= from->rows(); ++from) row -= from->rows();
    Require(from != data.end() && row >= 0, "RowsAt: a row that is there");
    own.row(k) = from->own().row(row);
    next.row(k) = from->next().row(row);
  }
  return {std::move(own), std::move(next)};
}

mpc::PackedShare RowsAt(const mpc::PackedShare& x, const std::vector<std::int64_t>& rows,
                        std::int64_t height) {
  const auto taken = static_cast<std::int64_t>(rows.size());
  Require(taken <= height, "RowsAt: at most as many rows as the height");
  std::vector<mpc::PackedShare::Block> blocks;
  for (auto begin = rows.begin(); begin != rows.end();) {
    std::int64_t first = 0;
    auto from = x.blocks().begin();
    for (; from != x.blocks().end() && *begin >= first + from->rows; ++from) first += from->rows;
    Require(from != x.blocks().end() && *begin >= 0, "RowsAt: a row that is there");
    std::vector<mpc::Index> of_block;
    for (; begin != rows.end() && *begin >= first && *begin < first + from->rows; ++begin)
      of_block.push_back(*begin - first);
    const auto taken_of = [&](const mpc::PackedMatrix& component) {
      return component.size() == 0 ? mpc::PackedMatrix() : component.RowsAt(of_block);
    };
    blocks.push_back({.rows = static_cast<mpc::Index>(of_block.size()),
                      .own = taken_of(from->own),
                      .next = taken_of(from->next)});
  }
  if (taken < height) blocks.push_back({.rows = height - taken});
  return {x.cols(), std::move(blocks)};
}

}  // namespace trefoil::ml

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
  const auto taken = static_cast<mpc::Index>(rows.size());
  Require(taken <= height, "RowsAt: at most as many rows as the height");
  int width = 64;
  for (const mpc::PackedShare::Block& block : x.blocks()) {
    for (const mpc::PackedMatrix* component : {&block.own, &block.next})
      if (component->size() > 0) width = component->width();
  }
  mpc::PackedShare::Block out{.rows = height,
                              .own = mpc::PackedMatrix(height, x.cols(), width),
                              .next = mpc::PackedMatrix(height, x.cols(), width)};
  for (mpc::Index k = 0; k < height; ++k) {
    static const mpc::PackedShare::Block kZeros;
    const mpc::PackedShare::Block* from = &kZeros;
    std::int64_t row = 0;
    if (k < taken) {
      row = rows[static_cast<std::size_t>(k)];
      auto block = x.blocks().begin();
      for (; block != x.blocks().end() && row >= block->rows; ++block) row -= block->rows;
      Require(block != x.blocks().end() && row >= 0, "RowsAt: a row that is there");
      from = &*block;
    }
    out.own.CopyRow(k, from->own, row);
    out.next.CopyRow(k, from->next, row);
  }
  return {x.cols(), {std::move(out)}};
}

}  // namespace trefoil::ml

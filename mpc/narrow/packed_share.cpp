#include "mpc/narrow/packed_share.h"

#include <cstring>

#include "base/error.h"

namespace trefoil::mpc {

PackedShare::PackedShare(Index cols, std::vector<Block> blocks) : cols_(cols), blocks_(std::move(blocks)) {
  for (const Block& block : blocks_) {
    for (const PackedMatrix* component : {&block.own, &block.next}) {
      Require(component->size() == 0 || (component->rows() == block.rows && component->cols() == cols),
              "PackedShare: components of a block's rows and of all columns");
    }
    rows_ += block.rows;
  }
}

ArithShare WidenedColumn(const PackedShare& x, Index col) {
  Require(col >= 0 && col < x.cols(), "WidenedColumn: a column of the sharing");
  RingMatrix own = RingMatrix::Zero(x.rows(), 1);
  RingMatrix next = own;
  Index row = 0;
  const auto widen = [col](const PackedMatrix& component, Word* out) {
    for (Index k = 0; k < component.rows(); ++k) {
      const PackedRows from = component.From(k, col);
      std::memcpy(out + k, from.data, static_cast<std::size_t>(from.bytes));
    }
  };
  for (const PackedShare::Block& block : x.blocks()) {
    widen(block.own, own.data() + row);
    widen(block.next, next.data() + row);
    row += block.rows;
  }
  return {std::move(own), std::move(next)};
}

}  // namespace trefoil::mpc

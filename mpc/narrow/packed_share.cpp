#include "mpc/narrow/packed_share.h"

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

}  // namespace trefoil::mpc

#include "mpc/narrow/narrow_matrix.h"

#include <algorithm>
#include <utility>

namespace trefoil::mpc {

NarrowMatrix::NarrowMatrix(Index rows, Index cols, const NarrowColumns& narrow) {
  RequireFits(narrow, cols);
  packed = PackedMatrix(rows, narrow.packed(), narrow.width);
  whole.resize(rows, cols - narrow.packed());
}

void NarrowMatrix::PutRows(Index first, Index count, ConstRows words) {
  packed.PutRows(first, count, words);
  for (Index row = 0; row < count; ++row) {
    std::copy_n(words.data + row * words.stride + packed.cols(), whole.cols(),
                whole.data() + (first + row) * whole.cols());
  }
}

RingMatrix Widened(NarrowMatrix x) {
  if (x.packed.cols() == 0) return std::move(x.whole);
  return SideBySide(Widened(x.packed), x.whole);
}

}  // namespace trefoil::mpc

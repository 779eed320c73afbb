#pragma once
#include <cstdint>

#include "mpc/ring.h"

namespace trefoil::mpc {

/// How a matrix travels of which the first `columns` columns are numbers modulo 2^width: these in `width`
/// bits each, packed over all of them, the others in words. How it is held: NarrowMatrix
/// (mpc/narrow/narrow_matrix.h).
struct NarrowColumns {
  Index columns = 0;
  int width = 64;

  /// Columns that are packed: none where words are as narrow as numbers get.
  [[nodiscard]] Index packed() const { return width < 64 ? columns : 0; }
};

/// Throws ContractError unless 1 <= width <= 64 and there are such columns among `cols`.
void RequireFits(const NarrowColumns& narrow, Index cols);

/// What such a matrix takes on the wire; without elements nothing. Throws as RequireFits.
[[nodiscard]] std::uint64_t WireBytes(const NarrowColumns& narrow, Index rows, Index cols);

}  // namespace trefoil::mpc

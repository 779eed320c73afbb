#include "mpc/narrow/narrow_columns.h"

#include "base/error.h"
#include "mpc/bits.h"

namespace trefoil::mpc {

void RequireFits(const NarrowColumns& narrow, Index cols) {
  Require(narrow.width >= 1 && narrow.width <= 64 && narrow.columns >= 0 && narrow.columns <= cols,
          "NarrowColumns: a width of 1 to 64 bits, and columns of the matrix");
}

std::uint64_t WireBytes(const NarrowColumns& narrow, Index rows, Index cols) {
  if (rows * cols == 0) return 0;
  RequireFits(narrow, cols);
  const auto whole = static_cast<std::uint64_t>(rows * (cols - narrow.packed()));
  return PackedBytes(narrow.width, rows * narrow.packed()) + sizeof(Word) * whole;
}

}  // namespace trefoil::mpc

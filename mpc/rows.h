#pragma once
#include "mpc/ring.h"

namespace trefoil::mpc {

/// What the kernels read and write: rows of words in memory, `stride` words from one to the next.
struct ConstRows {
  const Word* data = nullptr;
  Index stride = 0;
};
struct MutableRows {
  Word* data = nullptr;
  Index stride = 0;
};

/// What one party holds of shared words: those of its own component and of the next party's.
struct ShareWords {
  /// Those from number `first` on.
  [[nodiscard]] ShareWords From(Index first) const { return {.own = own + first, .next = next + first}; }

  const Word* own = nullptr;
  const Word* next = nullptr;
};

}  // namespace trefoil::mpc

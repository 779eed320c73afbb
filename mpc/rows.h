#pragma once
#include <cstddef>

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

/// The same of numbers of `bytes` bytes each, lowest first, one after the other: `stride` bytes from one row
/// to the next.
struct PackedRows {
  /// Behind the last number so many bytes can be read, since kernels read whole vectors.
  static constexpr Index kReadBeyond = 64;

  const std::byte* data = nullptr;
  Index stride = 0;
  Index bytes = 8;
};

/// What one party holds of shared words: those of its own component and of the next party's.
struct ShareWords {
  /// Those from number `first` on.
  [[nodiscard]] ShareWords From(Index first) const { return {.own = own + first, .next = next + first}; }

  const Word* own = nullptr;
  const Word* next = nullptr;
};

}  // namespace trefoil::mpc

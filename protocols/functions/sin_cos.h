#pragma once
#include <cstdint>

#include "mpc/ring.h"

namespace trefoil::protocols {

/// Sine and cosine as integers at scale 2^30.
struct SinCos {
  std::int64_t sin = 0;
  std::int64_t cos = 0;
};

/// Of an angle given as a fraction of a full turn: turn / 2^64. Error at most 3e-7. Integer arithmetic only,
/// tables included, so that every machine gets the same bits: two parties multiply a shared value by it.
[[nodiscard]] SinCos SinCosOfTurn(mpc::Word turn);

}  // namespace trefoil::protocols

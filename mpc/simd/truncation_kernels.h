#pragma once
#include "mpc/ring.h"

namespace trefoil::mpc {

// Kernels of truncation by a masked opening (docs/reference/protocols.md, "Truncation"): the shifts of
// `count` words, each in one pass, since they take as long as memory does. All instruction sets give the same
// result; the best one that the processor has is taken. Pre: 1 <= bits <= 62.

/// Of each word r = r_m 2^63 + r_l: quotients = r_l >> bits, tops = r_m.
void QuotientsAndTops(const Word* r, int bits, Index count, Word* quotients, Word* tops);

/// What a masked opening gave, c = c_m 2^63 + c_l, and what its dealer shared of the mask.
struct OpenedWords {
  const Word* c = nullptr;
  const Word* quotients = nullptr;
  const Word* tops = nullptr;
};

/// half = (1 - 2 c_m) tops 2^(63 - bits) - quotients.
void DealtQuotients(OpenedWords opened, int bits, Index count, Word* half);

/// The same, and (c_l >> bits) + c_m 2^(63 - bits) + constant.
void DealtAndPublicQuotients(OpenedWords opened, int bits, Word constant, Index count, Word* half);

}  // namespace trefoil::mpc

#pragma once
#include <cstddef>

#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

// Kernels on packed bits, `count` words each. All instruction sets give the same result; the best one that
// the processor has is taken. `out` may be an operand.

/// out = a ^ b
void ExclusiveOr(const Word* a, const Word* b, Index count, Word* out);

/// out = a & b
void BitwiseAnd(const Word* a, const Word* b, Index count, Word* out);

/// sum ^= x_i & (y_i ^ y_{i+1}) ^ x_{i+1} & y_i: adds this party's part of x & y.
/// Source: Araki et al., CCS 2016, section 2.2.
void AddLocalAnd(ShareWords x, ShareWords y, Index count, Word* sum);

/// out = the bits of `from` from its bit `shift` on, as words.
/// Pre: 0 <= shift < 8; 8 * count bytes can be read, and one more if `shift` is not 0.
void BitsFrom(const std::byte* from, int shift, Index count, Word* out);

/// The lowest `filled` bits of `pending` and behind them those of `from`, as 8 * count bytes; returns the
/// bits that are left over, `filled` of them, in its lowest ones. Pre: 0 <= filled < 64; the other bits of
/// `pending` are zero.
Word BitsBehind(Word pending, int filled, const Word* from, Index count, std::byte* out);

/// Each of `count` bits as a word, 0 or 1, in order.
void BitsToWords(const Word* bits, Index count, Word* out);

}  // namespace trefoil::mpc

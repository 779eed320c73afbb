#pragma once
#include "mpc/rows.h"

namespace trefoil::mpc {

/// Bit t of word k of `x` becomes bit k % 64 of word k / 64 of row t, for the lowest `width` bits of `count`
/// words; what is left of a row's last word becomes zero. All instruction sets give the same result; the best
/// one that the processor has is taken. Cost: about a cycle a word with AVX-512, at memory's speed.
/// Pre: 0 <= width <= 64; `width` rows of ceil(count / 64) words. Source: Warren, Hacker's Delight, 7-3.
void WordsToPlanes(const Word* x, Index count, Index width, MutableRows planes);

/// The inverse: `count` words of `width` bits from as many rows. Pre: the same.
void PlanesToWords(ConstRows planes, Index width, Index count, Word* x);

}  // namespace trefoil::mpc

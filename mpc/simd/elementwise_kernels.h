#pragma once
#include <cstddef>

#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

// Kernels on `count` words, element by element modulo 2^64. All instruction sets give the same result; the
// best one that the processor has is taken. `out` may be an operand.

/// out = a + b
void AddWords(const Word* a, const Word* b, Index count, Word* out);

/// out = a - b
void SubtractWords(const Word* a, const Word* b, Index count, Word* out);

/// out = a + b + c + offset
void AddThreeWords(const Word* a, const Word* b, const Word* c, Word offset, Index count, Word* out);

/// out = factor * a
void ScaleWords(Word factor, const Word* a, Index count, Word* out);

/// sum += the words that lie at `from` as they do in a message, lowest byte first, at any address.
void AddWordsFrom(const std::byte* from, Index count, Word* sum);

/// out = x_i (y_i + y_{i+1}) + x_{i+1} y_i: this party's part of the product.
/// Source: Araki et al., CCS 2016, section 3.
void LocalProductOfWords(ShareWords x, ShareWords y, Index count, Word* out);

// The same of whole matrices. Pre: all of one shape. Throws: ContractError on different ones.

/// a + b, a - b, and a + b + c + offset; where `a` is given up, in its memory: a large result in new memory
/// is read from there before it is written.
[[nodiscard]] RingMatrix SumOf(const RingMatrix& a, const RingMatrix& b);
[[nodiscard]] RingMatrix SumOf(RingMatrix&& a, const RingMatrix& b);
[[nodiscard]] RingMatrix DifferenceOf(const RingMatrix& a, const RingMatrix& b);
[[nodiscard]] RingMatrix DifferenceOf(RingMatrix&& a, const RingMatrix& b);
[[nodiscard]] RingMatrix SumOf(const RingMatrix& a, const RingMatrix& b, const RingMatrix& c, Word offset);
[[nodiscard]] RingMatrix SumOf(RingMatrix&& a, const RingMatrix& b, const RingMatrix& c, Word offset);

}  // namespace trefoil::mpc

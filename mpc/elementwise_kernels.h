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

/// out = factor * a
void ScaleWords(Word factor, const Word* a, Index count, Word* out);

/// sum += the words that lie at `from` as they do in a message, lowest byte first, at any address.
void AddWordsFrom(const std::byte* from, Index count, Word* sum);

/// out = x_i (y_i + y_{i+1}) + x_{i+1} y_i: this party's part of the product.
/// Source: Araki et al., CCS 2016, section 3.
void LocalProductOfWords(ShareWords x, ShareWords y, Index count, Word* out);

}  // namespace trefoil::mpc

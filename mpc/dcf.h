#pragma once
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "mpc/fixed_key_aes.h"
#include "mpc/ring.h"

namespace trefoil::mpc {

/// A batch of distributed comparison functions: key j is for f(x) = payload_j if x < point_j, else 0, on
/// inputs of `bits` bits, with outputs in Z_2^64 shared between two parties. What is public to both of them:
struct DcfCorrections {
  int bits = 0;
  Index keys = 0;
  RingMatrix levels;  ///< bits * keys rows of 3 words: seed correction (low word's bits 0, 1: control bits),
                      ///< high word, value
  RingMatrix last;    ///< keys rows of 1 word
};

/// Words of all corrections of a batch: (3 bits + 1) a key.
[[nodiscard]] Index DcfWords(int bits, Index keys);

/// Makes the keys of a batch from both parties' root seeds (uniform; their two lowest bits are ignored).
/// Pre:    1 <= bits <= 64; points below 2^bits; all lists of one length.
/// Source: Boyle et al., EUROCRYPT 2021 (eprint 2020/1392), figure 1. Its generator is AES-128 under a fixed
///         key in the Matyas-Meyer-Oseas mode (mpc/fixed_key_aes.h) on 126-bit seeds: the two low bits tell
///         left child, right child and values apart.
[[nodiscard]] DcfCorrections DcfGenerate(int bits, const RingMatrix& points, const RingMatrix& payloads,
                                         const std::vector<Block>& roots_first,
                                         const std::vector<Block>& roots_second);

/// Party `first` or second's share of f_j(x) for every row of `inputs` (row k: a point for each key, column
/// j: key j). The two parties' results add up to the payload or zero. Pre: inputs below 2^bits, one column a
/// key. Cost: 2 AES blocks a bit and prefix: points of one key with common leading bits share their work.
[[nodiscard]] RingMatrix DcfEvaluate(ThreadPool& pool, bool first, const DcfCorrections& corrections,
                                     const std::vector<Block>& roots, const RingMatrix& inputs);

}  // namespace trefoil::mpc

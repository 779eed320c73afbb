#pragma once
#include <cstddef>
#include <cstdint>

#include "mpc/dcf/seed_hash.h"

namespace trefoil::mpc {

/// What the two low bits of a seed ask the generator for: 0 its left child, 1 its right one, 2 its values.
constexpr Word kDcfValues = 2;
/// 3: the output of a level that is not the last.
constexpr Word kDcfOutput = 3;

/// Paths on their way through the levels of comparison functions, each array with one element a path.
struct DcfPaths {
  Block* states = nullptr;              ///< seed, and the control bit in its lowest bit
  Block* sums = nullptr;                ///< low word: of the values so far; the high one is of no meaning
  const Block* points = nullptr;        ///< the point, in both words
  const std::uint32_t* keys = nullptr;  ///< by number: whose corrections apply
  std::size_t count = 0;
};

/// Moves every path one level down, to the child that bit `shift` of its point says. Pre: `corrections`:
/// three words a key, of this level (mpc/dcf/dcf.h). All instruction sets give the same result; the best one
/// that the processor has is taken.
/// Source: Boyle et al., EUROCRYPT 2021 (eprint 2020/1392), figure 1, Eval.
void DcfDescend(const SeedHash& hash, const Word* corrections, int shift, const DcfPaths& paths);

}  // namespace trefoil::mpc

#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// The most significant of the low `width` bits of each element (row by row): with |x| < 2^(width - 1), the
/// sign. Two-operand carry tree on packed words: one party holds x_k + x_{k+1}, the other two x_{k+2}, both
/// as bits.
///
/// Result: one plane of x.size() bits.
/// Pre:    2 <= width <= 64.
/// Cost:   1 + ceil(log2(width - 1)) rounds (7 at 64 bits), 2 at a width of 2; see MsbCost, at most 7.2 words
///         an element.
[[nodiscard]] mpc::BoolShare Msb(mpc::Context& party, const mpc::ArithShare& x, int width = 64);
[[nodiscard]] mpc::Cost MsbCost(mpc::Index count, int width = 64);

/// [x < 0], element by element, read as signed numbers. Pre: |x| < 2^(width - 1). Cost: MsbCost.
[[nodiscard]] mpc::BoolShare LessThanZero(mpc::Context& party, const mpc::ArithShare& x, int width = 64);

/// The low `width` bits of each element, plane t being bit t: parallel-prefix (Sklansky) adder.
/// Pre:  2 <= width <= 64.
/// Cost: at 64 bits 7 rounds and at most 42 words an element; see BitDecomposeCost.
[[nodiscard]] mpc::BoolShare BitDecompose(mpc::Context& party, const mpc::ArithShare& x, int width = 64);
[[nodiscard]] mpc::Cost BitDecomposeCost(mpc::Index count, int width = 64);

/// Plane t of the result is the OR of planes t, t+1, ... of `bits` ("SufOr").
/// Cost: ceil(log2(planes)) rounds; see SuffixOrCost.
[[nodiscard]] mpc::BoolShare SuffixOr(mpc::Context& party, const mpc::BoolShare& bits);
[[nodiscard]] mpc::Cost SuffixOrCost(mpc::Index planes, mpc::Index count);

/// Each bit as an arithmetic sharing of 0 or 1: planes rows, count columns.
/// Cost: 2 rounds, at most 4 words a bit (1 of them offline).
[[nodiscard]] mpc::ArithShare BitToArith(mpc::Context& party, const mpc::BoolShare& bits);
[[nodiscard]] mpc::Cost BitToArithCost(mpc::Index planes, mpc::Index count);

/// b * x element by element; bit k of the only plane of `bits` goes with element k of x, row by row.
/// Pre:  bits has one plane and x.size() bits.
/// Cost: 2 rounds, at most 8 words an element (1 of them offline).
[[nodiscard]] mpc::ArithShare BitTimes(mpc::Context& party, const mpc::BoolShare& bits,
                                       const mpc::ArithShare& x);
[[nodiscard]] mpc::Cost BitTimesCost(mpc::Index count);

/// Where the bit is 1 the element of `one`, else that of `zero`. Cost: BitTimesCost.
[[nodiscard]] mpc::ArithShare Select(mpc::Context& party, const mpc::BoolShare& bits,
                                     const mpc::ArithShare& one, const mpc::ArithShare& zero);

}  // namespace trefoil::protocols

#pragma once
#include <utility>

#include "bench/operations.h"
#include "mpc/bits.h"
#include "mpc/share.h"
#include "protocols/comparison/leading_bit.h"
#include "protocols/comparison/small_table.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::bench {

inline constexpr int kFractionBits = 16;
inline constexpr mpc::Index kClasses = 10;  ///< elements of a row, for operations on rows

/// Random numbers, |x| <= 2^bits, or 1 to 2^bits where only positive ones are wanted.
[[nodiscard]] mpc::RingMatrix RandomNumbers(mpc::Index rows, mpc::Index cols, int bits,
                                            bool positive = false);

/// The same, input by party 0.
[[nodiscard]] mpc::ArithShare RandomShare(mpc::Context& party, mpc::Index rows, mpc::Index cols, int bits,
                                          bool positive = false);

/// Random bits. Pre: planes <= 64.
[[nodiscard]] mpc::BitMatrix RandomBits(mpc::Index planes, mpc::Index count);

/// The same, input by party 0.
[[nodiscard]] mpc::BoolShare RandomBitShare(mpc::Context& party, mpc::Index planes, mpc::Index count);

/// What table look-ups are measured with: eight pieces of degree 1 between thresholds of 64 bits.
[[nodiscard]] protocols::PiecewisePolynomial EightLinearPieces();
/// And one table of 16 entries by the leading bit of numbers below 2^24.
[[nodiscard]] protocols::LeadingBitTables SixteenLeadingBits();
/// And one of 256 entries by the low eight bits.
[[nodiscard]] protocols::SmallTables TableOf256();

/// An operation on one input (a share, or a party's own values).
template <typename Input, typename Run>
[[nodiscard]] Prepared OnOne(Input x, mpc::Cost declared, Run run, double compute_seconds = 0) {
  return {.run = [x = std::move(x), run = std::move(run)](mpc::Context& party) { (void)run(party, x); },
          .declared = declared,
          .compute_seconds = compute_seconds};
}

}  // namespace trefoil::bench

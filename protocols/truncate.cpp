#include "protocols/truncate.h"

#include "base/error.h"
#include "protocols/multiply.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr Word kLow63 = ~Word{0} >> 1;

/// What is added before the opening so that the sum lies in [0, 2^63).
Word OffsetOf(Range range) { return range == Range::kSigned ? Word{1} << 62 : 0; }

RingMatrix ShiftDown(const RingMatrix& x, int bits) {
  return x.unaryExpr([bits](Word word) { return word >> bits; });
}

RingMatrix LowPart(const RingMatrix& x) {
  return x.unaryExpr([](Word word) { return word & kLow63; });
}

/// Everything but the opening itself, which `open` does with the mask: with c = x + offset + r = c_m 2^63 +
/// c_l and r likewise, x + offset = c_l - r_l + (c_m ^ r_m) 2^63, so the quotient is (c_l >> bits) - (r_l >>
/// bits) + (c_m ^ r_m) 2^(63 - bits) - (offset >> bits), plus the carry of the low parts.
template <typename Open>
mpc::ArithShare TruncateOpened(MaskedOpening opening, Index rows, Index cols, int bits, Range range,
                               Open open) {
  const RingMatrix mask = opening.DrawMask(rows, cols);
  RingMatrix of_mask;
  if (opening.dealer()) of_mask = mpc::Stacked(ShiftDown(LowPart(mask), bits), ShiftDown(mask, 63));
  const RingMatrix dealt = opening.Deal(of_mask, 2 * rows, cols);
  const RingMatrix c = open(opening, OffsetOf(range), mask);
  RingMatrix half;
  if (!opening.dealer()) {
    const RingMatrix c_top = ShiftDown(c, 63);
    const RingMatrix top_mask = dealt.bottomRows(rows);
    // c_m ^ r_m = c_m + (1 - 2 c_m) r_m, of which A adds the public part.
    half = ((Word{1} - Word{2} * c_top) * top_mask) * (Word{1} << (63 - bits)) - dealt.topRows(rows);
    if (opening.first()) {
      half += ShiftDown(LowPart(c), bits) + c_top * (Word{1} << (63 - bits)) - (OffsetOf(range) >> bits);
    }
  }
  return opening.Reshare(half, rows, cols);
}

void RequireBits(int bits) { Require(bits >= 1 && bits <= 62, "Truncate: a shift of 1 to 62 bits"); }

}  // namespace

mpc::ArithShare Truncate(mpc::Context& party, const mpc::ArithShare& x, int bits, Range range) {
  RequireBits(bits);
  return TruncateOpened(MaskedOpening(party), x.rows(), x.cols(), bits, range,
                        [&](MaskedOpening& opening, Word offset, const RingMatrix& mask) {
                          return opening.Open(x, offset, mask);
                        });
}

mpc::ArithShare Truncate(mpc::Context& party, const mpc::AdditiveShare& x, int bits, Range range) {
  RequireBits(bits);
  return TruncateOpened(MaskedOpening(party), x.rows(), x.cols(), bits, range,
                        [&](MaskedOpening& opening, Word offset, const RingMatrix& mask) {
                          return opening.Open(x, offset, mask);
                        });
}

mpc::ArithShare TruncatePair(const MaskedOpening& opening, const RingMatrix& half, Index rows, Index cols,
                             int bits) {
  RequireBits(bits);
  return TruncateOpened(MaskedOpening::WithRolesOf(opening), rows, cols, bits, Range::kSigned,
                        [&](MaskedOpening& follow_up, Word offset, const RingMatrix& mask) {
                          return follow_up.OpenPair(half, offset, mask);
                        });
}

mpc::Cost TruncateCost(Index count) {
  const auto word = 8 * static_cast<std::uint64_t>(count);
  const mpc::Cost dealt = mpc::Cost::Offline({{2, 1, 2 * word}});
  const mpc::Cost exchange = PairExchangeCost(word);
  return Then(Then(dealt, exchange), exchange).WithTurn();
}

mpc::Cost TruncateProductCost(Index count) {
  const auto word = 8 * static_cast<std::uint64_t>(count);
  const mpc::Cost dealt = mpc::Cost::Offline({{2, 1, 2 * word}});
  const mpc::Cost opening = mpc::Cost::Round({{0, 1, word}, {1, 0, word}, {2, 0, word}, {2, 1, word}});
  return Then(Then(dealt, opening), PairExchangeCost(word)).WithTurn();
}

mpc::ArithShare MultiplyTruncate(mpc::Context& party, const mpc::ArithShare& x, const mpc::ArithShare& y,
                                 int bits, Range range) {
  return Truncate(party, LocalProduct(x, y), bits, range);
}

mpc::ArithShare MatMulTruncate(mpc::Context& party, const mpc::ArithShare& x, const mpc::ArithShare& y,
                               int bits) {
  return Truncate(party, LocalMatrixProduct(party, x, y), bits);
}

}  // namespace trefoil::protocols

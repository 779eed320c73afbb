#include "protocols/arithmetic/truncate.h"

#include <utility>

#include "base/error.h"
#include "mpc/simd/kernels.h"
#include "mpc/simd/truncation_kernels.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/comparison/dealt_dcf.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// What is added before the opening so that the sum lies in [0, 2^63), for numbers modulo 2^64.
Word OffsetOf(Range range) { return range == Range::kSigned ? Word{1} << 62 : 0; }

RingMatrix LowPart(const RingMatrix& x, int bits) {
  return x.unaryExpr([bits](Word word) { return word & ((Word{1} << bits) - 1); });
}

/// How each element is divided and rounded.
struct Division {
  int bits;
  Range range;
  Rounding rounding;
  int width = 64;

  /// A number x modulo 2^width is x 2^unused modulo 2^64, truncated by so many bits more.
  [[nodiscard]] int unused() const { return 64 - width; }
  [[nodiscard]] int shift() const { return bits + unused(); }
};

void RequireBits(int bits, int width = 64) {
  Require(width <= 64 && bits >= 1 && bits <= width - 2,
          "Truncate: a shift of 1 to 62 bits, 2 below the width");
}

/// Words modulo 2^width become the upper bits of words.
void MoveUp(const Division& division, RingMatrix& words) {
  if (division.width == 64) return;
  const int unused = division.unused();
  words = words.unaryExpr([unused](Word word) { return word << unused; });
}

/// What is dealt of the mask r = r_m 2^63 + r_l: the rows of r_l >> shift, and below them the rows of r_m.
RingMatrix SplitMask(ThreadPool& pool, RingMatrix r, const Division& division) {
  MoveUp(division, r);
  RingMatrix out(2 * r.rows(), r.cols());
  mpc::ForParts(pool, r.size(), 1, [&](Index first, Index count) {
    mpc::QuotientsAndTops(r.data() + first, division.shift(), count, out.data() + first,
                          out.data() + r.size() + first);
  });
  return out;
}

/// Deals SplitMask; for exact rounding also a key for each element of r, of the function z -> [z < r modulo 2^bits].
DealtDcf DealQuotients(MaskedOpening& opening, const Division& division, Index rows, Index cols) {
  const int bits = division.bits;
  if (division.rounding == Rounding::kStochastic) {
    DealtDcf dealt;
    dealt.first = opening.first();
    dealt.half = opening.Deal(2 * rows, cols, [rows, cols, division](const mpc::Dealer& dealer) {
      return SplitMask(dealer.pool(), dealer.Mask(rows, cols), division);
    });
    return dealt;
  }
  return DealDcf(opening, mpc::DcfShape(bits), rows * cols, 2 * rows, cols,
                 [rows, cols, division](const mpc::Dealer& dealer) {
                   const RingMatrix r = dealer.Mask(rows, cols);
                   return DcfDealing{.points = LowPart(mpc::Reshaped(r, 1, rows * cols), division.bits),
                                     .payloads = RingMatrix::Ones(1, rows * cols),
                                     .shared = SplitMask(dealer.pool(), r, division)};
                 });
}

/// A's or B's half of (c_l >> bits) - (r_l >> bits) + (c_m ^ r_m) 2^(63 - bits) - (offset >> bits), where
/// c_m ^ r_m = c_m + (1 - 2 c_m) r_m and `bits` is the shift. Shared are r_l >> bits and r_m; A alone adds what is
/// public.
RingMatrix HalfOfQuotient(MaskedOpening& opening, const RingMatrix& c, const RingMatrix& dealt, int bits,
                          Word offset) {
  RingMatrix half(c.rows(), c.cols());
  mpc::ForParts(opening.pool(), c.size(), 1, [&](Index first, Index count) {
    const mpc::OpenedWords opened{
        .c = c.data() + first, .quotients = dealt.data() + first, .tops = dealt.data() + c.size() + first};
    if (opening.first()) {
      mpc::DealtAndPublicQuotients(opened, bits, Word{0} - (offset >> bits), count, half.data() + first);
    } else {
      mpc::DealtQuotients(opened, bits, count, half.data() + first);
    }
  });
  return half;
}

/// A's or B's half of [c < r modulo 2^bits].
RingMatrix Carries(MaskedOpening& opening, const Division& division, const DealtDcf& keys,
                   const RingMatrix& c) {
  const RingMatrix low = LowPart(mpc::Reshaped(c, 1, c.size()), division.bits);
  return mpc::Reshaped(EvaluateDcf(opening.pool(), keys, low), c.rows(), c.cols());
}

/// A's or B's half of the result, from what was opened.
RingMatrix HalfOfResult(MaskedOpening& opening, const Division& division, const DealtDcf& dealt,
                        RingMatrix c) {
  RingMatrix carries;
  if (division.rounding == Rounding::kExact) carries = Carries(opening, division, dealt, c);
  MoveUp(division, c);
  RingMatrix half = HalfOfQuotient(opening, c, dealt.half, division.shift(), OffsetOf(division.range));
  if (division.rounding == Rounding::kExact) half -= carries;
  return half;
}

/// The truncation; `begin` starts the opening of x + offset + r with the mask r. With c = x + offset + r =
/// c_m 2^63 + c_l, and r written likewise, x + offset = c_l - r_l + (c_m ^ r_m) 2^63. So (c_l >> bits) -
/// (r_l >> bits) + (c_m ^ r_m) 2^(63 - bits) - (offset >> bits) is floor(x / 2^bits) + [c < r modulo 2^bits]. The
/// last term is the coin of stochastic rounding; exact rounding takes it off. Numbers modulo 2^width are opened
/// modulo 2^width, and all of this is of the words whose upper bits they are.
template <typename Begin>
mpc::ArithShare TruncateOpened(MaskedOpening opening, Index rows, Index cols, const Division& division,
                               Begin begin) {
  const RingMatrix mask = opening.DrawMask(rows, cols);
  MaskedOpening::Part part = begin(opening, OffsetOf(division.range) >> division.unused(), mask);
  const DealtDcf dealt = DealQuotients(opening, division, rows, cols);
  RingMatrix c = opening.FinishOpen(std::move(part));
  RingMatrix half;
  if (!opening.dealer()) half = HalfOfResult(opening, division, dealt, std::move(c));
  return opening.Reshare(half, rows, cols);
}

mpc::Cost DealingCost(Index count, int bits, Rounding rounding) {
  if (rounding == Rounding::kExact) return DealDcfCost(mpc::DcfShape(bits), count, 2 * count);
  return mpc::Cost::Offline({{2, 1, 16 * static_cast<std::uint64_t>(count)}});
}

}  // namespace

mpc::ArithShare Truncate(mpc::Context& party, const mpc::ArithShare& x, int bits, Range range,
                         Rounding rounding) {
  RequireBits(bits);
  return TruncateOpened(MaskedOpening(party), x.rows(), x.cols(), {bits, range, rounding},
                        [&](MaskedOpening& opening, Word offset, const RingMatrix& mask) {
                          return opening.BeginOpen(x, offset, mask);
                        });
}

mpc::ArithShare Truncate(mpc::Context& party, const mpc::AdditiveShare& x, int bits, Range range,
                         Rounding rounding) {
  RequireBits(bits);
  return TruncateOpened(MaskedOpening(party), x.rows(), x.cols(), {bits, range, rounding},
                        [&](MaskedOpening& opening, Word offset, const RingMatrix& mask) {
                          return opening.BeginOpen(x, offset, mask);
                        });
}

mpc::ArithShare TruncatePair(const MaskedOpening& opening, const RingMatrix& half, Index rows, Index cols,
                             int bits, Rounding rounding, int width) {
  RequireBits(bits, width);
  return TruncateOpened(MaskedOpening::WithRolesOf(opening), rows, cols,
                        {bits, Range::kSigned, rounding, width},
                        [&](MaskedOpening& follow_up, Word offset, const RingMatrix& mask) {
                          return follow_up.BeginOpenPair(half, offset, mask, width);
                        });
}

mpc::Cost TruncateCost(Index count, int bits, Rounding rounding) {
  return TruncatePairCost(count, bits, rounding, 64);
}

mpc::Cost TruncatePairCost(Index count, int bits, Rounding rounding, int width) {
  const mpc::Cost opening = PairExchangeCost(mpc::PackedBytes(width, count));
  const mpc::Cost resharing = PairExchangeCost(8 * static_cast<std::uint64_t>(count));
  return Then(Then(DealingCost(count, bits, rounding), opening), resharing).WithTurn();
}

mpc::Cost TruncateCost(Index count) { return TruncateCost(count, 1, Rounding::kStochastic); }

mpc::Cost TruncateProductCost(Index count, int bits, Rounding rounding) {
  const auto word = 8 * static_cast<std::uint64_t>(count);
  const mpc::Cost opening = mpc::Cost::Round({{0, 1, word}, {1, 0, word}, {2, 0, word}, {2, 1, word}});
  return Then(Then(DealingCost(count, bits, rounding), opening), PairExchangeCost(word)).WithTurn();
}

mpc::Cost TruncateProductCost(Index count) { return TruncateProductCost(count, 1, Rounding::kStochastic); }

mpc::ArithShare MultiplyTruncate(mpc::Context& party, const mpc::ArithShare& x, const mpc::ArithShare& y,
                                 int bits, Range range, Rounding rounding) {
  return Truncate(party, LocalProduct(party, x, y), bits, range, rounding);
}

mpc::ArithShare MatMulTruncate(mpc::Context& party, const mpc::ArithShare& x, const mpc::ArithShare& y,
                               int bits, Rounding rounding) {
  return Truncate(party, LocalMatrixProduct(party, x, y), bits, Range::kSigned, rounding);
}

}  // namespace trefoil::protocols

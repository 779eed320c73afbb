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

/// How each element, modulo 2^width, is multiplied by a factor, divided and rounded. A word is w_m 2^(width -
/// 1) + w_l, of which bits from `width` upwards are anything.
struct Division {
  int bits;
  Range range;
  Rounding rounding;
  int width = 64;
  Word factor = 1;
  std::function<Word(std::int64_t)> later{};  ///< as NarrowFactor has it
  int of_result = 64;                         ///< bits of the result that matter

  /// Of a run so many later, which is dealt ahead. Throws ContractError where its factor is out of range.
  [[nodiscard]] Division OfRun(std::int64_t runs_later) const;
  /// Whether it is what the kernels do.
  [[nodiscard]] bool whole() const { return width == 64 && factor == 1; }
  /// What is added before the opening so that the sum lies in [0, 2^(width - 1)).
  [[nodiscard]] Word offset() const { return range == Range::kSigned ? Word{1} << (width - 2) : 0; }
  /// floor(factor w_l / 2^bits): below 2^63 before it is shifted.
  [[nodiscard]] Word Quotient(Word word) const {
    return factor * (word & ((Word{1} << (width - 1)) - 1)) >> bits;
  }
  /// w_m, and factor 2^(width - 1) / 2^bits.
  [[nodiscard]] Word Top(Word word) const { return word >> (width - 1) & 1; }
  [[nodiscard]] Word OfTop() const { return factor << (width - 1 - bits); }
  /// factor offset / 2^bits, which is whole.
  [[nodiscard]] Word OfOffset() const { return factor * (offset() >> bits); }
};

void RequireBits(int bits, int width = 64, Word factor = 1) {
  Require(width <= 64 && bits >= 1 && bits <= width - 2,
          "Truncate: a shift of 1 to 62 bits, 2 below the width");
  Require(factor >= 1 && factor <= Word{1} << (64 - width), "Truncate: a factor below the unused bits");
}

Division Division::OfRun(std::int64_t runs_later) const {
  if (!later) return *this;
  Division division = *this;
  division.factor = later(runs_later);
  RequireBits(bits, width, division.factor);
  return division;
}

/// What is dealt of the mask r: the rows of the quotients of r_l, and below them the rows of r_m.
RingMatrix SplitMask(ThreadPool& pool, const RingMatrix& r, const Division& division) {
  RingMatrix out(2 * r.rows(), r.cols());
  if (division.whole()) {
    mpc::ForParts(pool, r.size(), 1, [&](Index first, Index count) {
      mpc::QuotientsAndTops(r.data() + first, division.bits, count, out.data() + first,
                            out.data() + r.size() + first);
    });
  } else {
    out.topRows(r.rows()) = r.unaryExpr([&](Word word) { return division.Quotient(word); });
    out.bottomRows(r.rows()) = r.unaryExpr([&](Word word) { return division.Top(word); });
  }
  return out;
}

/// Deals SplitMask; for exact rounding also a key for each element of r, of the function z -> [z < factor r
/// modulo 2^bits].
DealtDcf DealQuotients(MaskedOpening& opening, const Division& division, Index rows, Index cols) {
  const int bits = division.bits;
  if (division.rounding == Rounding::kStochastic) {
    DealtDcf dealt;
    dealt.first = opening.first();
    dealt.half = opening.Deal(
        2 * rows, cols,
        [rows, cols, division](const mpc::Dealer& dealer) {
          return SplitMask(dealer.pool(), dealer.Mask(rows, cols), division.OfRun(dealer.runs_later()));
        },
        division.of_result);
    return dealt;
  }
  return DealDcf(
      opening, mpc::DcfShape(bits), rows * cols, 2 * rows, cols,
      [rows, cols, division](const mpc::Dealer& dealer) {
        const RingMatrix r = dealer.Mask(rows, cols);
        const Division of_run = division.OfRun(dealer.runs_later());
        return DcfDealing{
            .points = mpc::LowBits(of_run.factor * mpc::Reshaped(r, 1, rows * cols), of_run.bits),
            .payloads = RingMatrix::Ones(1, rows * cols),
            .shared = SplitMask(dealer.pool(), r, of_run)};
      },
      division.of_result);
}

/// The same as the kernels do of whole words.
RingMatrix HalfOfNarrowQuotient(bool first, const RingMatrix& c, const RingMatrix& dealt,
                                const Division& division) {
  RingMatrix half(c.rows(), c.cols());
  for (Index k = 0; k < c.size(); ++k) {
    const Word top = division.Top(c.data()[k]);
    const Word of_mask = dealt.data()[c.size() + k];
    Word flipped = (of_mask ^ (Word{0} - top)) + top;  // minus it where top is 1
    Word quotient = Word{0} - dealt.data()[k];
    if (first) {
      flipped += top;
      quotient += division.Quotient(c.data()[k]) - division.OfOffset();
    }
    half.data()[k] = quotient + flipped * division.OfTop();
  }
  return half;
}

/// A's or B's half of the quotient of c_l - that of r_l + (c_m ^ r_m) OfTop - OfOffset, where c_m ^ r_m =
/// c_m + (1 - 2 c_m) r_m. Shared are the quotients of r_l and r_m; A alone adds what is public.
RingMatrix HalfOfQuotient(MaskedOpening& opening, const RingMatrix& c, const RingMatrix& dealt,
                          const Division& division) {
  if (!division.whole()) return HalfOfNarrowQuotient(opening.first(), c, dealt, division);
  RingMatrix half(c.rows(), c.cols());
  mpc::ForParts(opening.pool(), c.size(), 1, [&](Index first, Index count) {
    const mpc::OpenedWords opened{
        .c = c.data() + first, .quotients = dealt.data() + first, .tops = dealt.data() + c.size() + first};
    if (opening.first()) {
      mpc::DealtAndPublicQuotients(opened, division.bits, Word{0} - division.OfOffset(), count,
                                   half.data() + first);
    } else {
      mpc::DealtQuotients(opened, division.bits, count, half.data() + first);
    }
  });
  return half;
}

/// A's or B's half of [factor c < factor r modulo 2^bits].
RingMatrix CarriesOfLowBits(MaskedOpening& opening, const Division& division, const DealtDcf& keys,
                            const RingMatrix& c) {
  const RingMatrix low = mpc::LowBits(division.factor * mpc::Reshaped(c, 1, c.size()), division.bits);
  return mpc::Reshaped(EvaluateDcf(opening.pool(), keys, low), c.rows(), c.cols());
}

/// A's or B's half of the result, from what was opened.
RingMatrix HalfOfResult(MaskedOpening& opening, const Division& division, const DealtDcf& dealt,
                        const RingMatrix& c) {
  RingMatrix half = HalfOfQuotient(opening, c, dealt.half, division);
  if (division.rounding == Rounding::kExact) half -= CarriesOfLowBits(opening, division, dealt, c);
  return half;
}

/// A's and B's halves of the truncation, nothing at the dealer; `begin` starts the opening of x + offset + r,
/// modulo 2^width, with the mask r. With c = x + offset + r = c_m 2^(width - 1) + c_l, and r written likewise,
/// x + offset = c_l - r_l + (c_m ^ r_m) 2^(width - 1). So the quotient of factor c_l, less that of factor r_l,
/// + (c_m ^ r_m) OfTop - OfOffset is floor(factor x / 2^bits) + [factor c < factor r modulo 2^bits]. The last
/// term is the coin of stochastic rounding; exact rounding takes it off.
template <typename Begin>
RingMatrix HalvesOfTruncated(MaskedOpening& opening, Index rows, Index cols, const Division& division,
                             Begin begin) {
  const RingMatrix mask = opening.DrawMask(rows, cols);
  MaskedOpening::Part part = begin(opening, division.offset(), mask);
  const DealtDcf dealt = DealQuotients(opening, division, rows, cols);
  const RingMatrix c = opening.FinishOpen(std::move(part));
  return opening.dealer() ? RingMatrix() : HalfOfResult(opening, division, dealt, c);
}

template <typename Begin>
mpc::ArithShare TruncateOpened(MaskedOpening opening, Index rows, Index cols, const Division& division,
                               Begin begin) {
  RingMatrix half = HalvesOfTruncated(opening, rows, cols, division, begin);
  return opening.Reshare(std::move(half), rows, cols, division.of_result);
}

mpc::Cost DealingCost(Index count, int bits, Rounding rounding, int of_result = 64) {
  if (rounding == Rounding::kExact) return DealDcfCost(mpc::DcfShape(bits), count, 2 * count, of_result);
  return mpc::Cost::Offline({{2, 1, mpc::PackedBytes(of_result, 2 * count)}});
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

mpc::ArithShare TruncateNarrow(mpc::Context& party, const mpc::AdditiveShare& x, int bits,
                               const NarrowFactor& narrow, Rounding rounding) {
  RequireBits(bits, narrow.width, narrow.factor);
  Require(narrow.of_result >= 1 && narrow.of_result <= 64, "TruncateNarrow: a result of 1 to 64 bits");
  return TruncateOpened(
      MaskedOpening(party), x.rows(), x.cols(),
      {bits, Range::kSigned, rounding, narrow.width, narrow.factor, narrow.later, narrow.of_result},
      [&](MaskedOpening& opening, Word offset, const RingMatrix& mask) {
        return opening.BeginOpen(x, offset, mask, narrow.width);
      });
}

mpc::ArithShare TruncateLifted(mpc::Context& party, const mpc::AdditiveShare& x, int width, Word factor,
                               const mpc::ArithShare& y, int bits, Rounding rounding) {
  RequireBits(bits);
  Require(width >= 2 && width < 64, "TruncateLifted: a width of 2 to 63 bits");
  // Divided by one, so that nothing is rounded: A's and B's halves of x itself, modulo 2^64.
  const Division lift{0, Range::kSigned, Rounding::kStochastic, width};
  MaskedOpening opening(party);
  RingMatrix half = HalvesOfTruncated(opening, x.rows(), x.cols(), lift,
                                      [&](MaskedOpening& lifted, Word offset, const RingMatrix& mask) {
                                        return lifted.BeginOpen(x, offset, mask, width);
                                      });
  if (!opening.dealer()) {
    // As in a masked opening of y, A has its two components, and B the third.
    half = factor * half + y.next();
    if (opening.first()) half += y.own();
  }
  return TruncatePair(opening, half, x.rows(), x.cols(), bits, rounding);
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
  return TruncateNarrowCost(count, bits, rounding, 64);
}

mpc::Cost TruncateNarrowCost(Index count, int bits, Rounding rounding, int width, int of_result) {
  const mpc::Cost opening = OpeningOfSumCost(mpc::PackedBytes(width, count));
  const mpc::Cost resharing = PairExchangeCost(mpc::PackedBytes(of_result, count));
  return Then(Then(DealingCost(count, bits, rounding, of_result), opening), resharing).WithTurn();
}

mpc::Cost TruncateLiftedCost(Index count, int bits, Rounding rounding, int width) {
  const mpc::Cost lifting =
      Then(DealingCost(count, bits, Rounding::kStochastic), OpeningOfSumCost(mpc::PackedBytes(width, count)));
  return Then(lifting, TruncatePairCost(count, bits, rounding, 64));
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

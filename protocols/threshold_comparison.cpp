#include "protocols/threshold_comparison.h"

#include "base/error.h"
#include "mpc/dcf.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

Word LowBits(int bits) { return bits == 64 ? ~Word{0} : (Word{1} << bits) - 1; }

std::vector<mpc::Block> ToBlocks(const RingMatrix& words) {
  std::vector<mpc::Block> blocks(static_cast<std::size_t>(words.rows()));
  for (Index k = 0; k < words.rows(); ++k)
    blocks[static_cast<std::size_t>(k)] = {.low = words(k, 0), .high = words(k, 1)};
  return blocks;
}

/// Corrections as one column of words, levels first.
RingMatrix ToColumn(const mpc::DcfCorrections& corrections) {
  return mpc::Stacked(mpc::Reshaped(corrections.levels, corrections.levels.size(), 1), corrections.last);
}

mpc::DcfCorrections FromColumn(const RingMatrix& column, int bits, Index keys) {
  const Index level_words = 3 * bits * keys;
  return {.bits = bits,
          .keys = keys,
          .levels = mpc::Reshaped(column.topRows(level_words), bits * keys, 3),
          .last = column.bottomRows(keys)};
}

/// The dealer's keys for the point r_l with payload 1 - 2 r_m.
RingMatrix MakeKeys(MaskedOpening& opening, const RingMatrix& mask, int width) {
  const Index count = mask.size();
  const RingMatrix row = mpc::Reshaped(mask, 1, count);
  const RingMatrix points = row.unaryExpr([width](Word r) { return r & LowBits(width - 1); });
  const RingMatrix payloads =
      row.unaryExpr([width](Word r) { return Word{1} - 2 * ((r >> (width - 1)) & 1); });
  return ToColumn(mpc::DcfGenerate(width - 1, points, payloads,
                                   ToBlocks(opening.DrawRoots(opening.roles().a, count)),
                                   ToBlocks(opening.DrawRoots(opening.roles().b, count))));
}

}  // namespace

RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening, const mpc::ArithShare& x,
                               const std::vector<std::int64_t>& thresholds, int width) {
  Require(width >= 2 && width <= 64, "BelowThresholdsPair: a width of 2 to 64 bits");
  const Index count = x.rows() * x.cols();
  const int bits = width - 1;
  const RingMatrix mask = opening.DrawMask(x.rows(), x.cols());
  RingMatrix keys;
  RingMatrix top_bits;
  if (opening.dealer()) {
    top_bits = mpc::Reshaped(mask, 1, count).unaryExpr([bits](Word r) { return (r >> bits) & 1; });
    keys = MakeKeys(opening, mask, width);
  }
  const RingMatrix top_half = opening.Deal(top_bits, 1, count);
  keys = opening.DealSame(keys, mpc::DcfWords(bits, count));
  const RingMatrix c = opening.Open(x, 0, mask, width);
  if (opening.dealer()) return {};

  const auto rows = static_cast<Index>(thresholds.size());
  RingMatrix shifted(rows, count);
  for (Index k = 0; k < rows; ++k) {
    shifted.row(k) =
        mpc::Reshaped(c, 1, count).row(0) - static_cast<Word>(thresholds[static_cast<std::size_t>(k)]);
  }
  const RingMatrix low = shifted.unaryExpr([bits](Word word) { return word & LowBits(bits); });
  const RingMatrix top = shifted.unaryExpr([bits](Word word) { return (word >> bits) & 1; });
  // With c - t = c_m 2^(width-1) + c_l: [x < t] = c_m ^ (r_m ^ [c_l < r_l]), and r_m ^ b = r_m + (1 - 2 r_m)
  // b.
  const RingMatrix inner = mpc::DcfEvaluate(party.pool(), opening.first(), FromColumn(keys, bits, count),
                                            ToBlocks(opening.DrawRoots(party.self(), count)), low) +
                           top_half.replicate(rows, 1);
  RingMatrix half = (Word{1} - Word{2} * top) * inner;
  if (opening.first()) half += top;
  return half;
}

mpc::Cost BelowThresholdsPairCost(Index count, int width) {
  const auto keys = 8 * static_cast<std::uint64_t>(mpc::DcfWords(width - 1, count));
  const auto top = 8 * static_cast<std::uint64_t>(count);
  return Then(mpc::Cost::Offline({{2, 0, keys}, {2, 1, keys + top}}),
              PairExchangeCost(mpc::PackedBytes(width, count)));
}

mpc::ArithShare BelowThresholds(mpc::Context& party, const mpc::ArithShare& x,
                                const std::vector<std::int64_t>& thresholds, int width) {
  MaskedOpening opening(party);
  const RingMatrix half = BelowThresholdsPair(party, opening, x, thresholds, width);
  return opening.Reshare(half, static_cast<Index>(thresholds.size()), x.rows() * x.cols());
}

mpc::Cost BelowThresholdsCost(Index count, std::size_t thresholds, int width) {
  const auto words = 8 * static_cast<std::uint64_t>(count) * thresholds;
  return Then(BelowThresholdsPairCost(count, width), PairExchangeCost(words)).WithTurn();
}

}  // namespace trefoil::protocols

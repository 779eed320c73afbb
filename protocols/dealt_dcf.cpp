#include "protocols/dealt_dcf.h"

#include <utility>

#include "base/error.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;

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

}  // namespace

DealtDcf DealDcf(MaskedOpening& opening, int bits, Index count, Index rows, Index cols,
                 const std::function<DcfDealing(const mpc::Dealer&)>& functions) {
  Require(bits >= 1 && bits <= 63, "DealDcf: 1 to 63 bits");
  MaskedOpening::SharedAndSame dealt = opening.DealBoth(
      rows, cols, mpc::DcfWords(bits, count), [bits, count, functions](const mpc::Dealer& dealer) {
        DcfDealing of = functions(dealer);
        return MaskedOpening::SharedAndSame{
            .shared = std::move(of.shared),
            .same = ToColumn(mpc::DcfGenerate(bits, of.points, of.payloads,
                                              ToBlocks(dealer.Roots(dealer.roles().a, count)),
                                              ToBlocks(dealer.Roots(dealer.roles().b, count))))};
      });
  if (opening.dealer()) return {};
  return {.first = opening.first(),
          .corrections = FromColumn(dealt.same, bits, count),
          .roots = ToBlocks(opening.DrawRoots(count)),
          .half = std::move(dealt.shared)};
}

mpc::Cost DealDcfCost(int bits, Index count, Index shared) {
  const auto bytes = 8 * static_cast<std::uint64_t>(mpc::DcfWords(bits, count));
  return mpc::Cost::Offline({{2, 0, bytes}, {2, 1, bytes + 8 * static_cast<std::uint64_t>(shared)}});
}

RingMatrix EvaluateDcf(ThreadPool& pool, const DealtDcf& keys, const RingMatrix& inputs) {
  return mpc::DcfEvaluate(pool, keys.first, keys.corrections, keys.roots, inputs);
}

}  // namespace trefoil::protocols

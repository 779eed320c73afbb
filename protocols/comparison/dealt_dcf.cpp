#include "protocols/comparison/dealt_dcf.h"

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

mpc::DcfCorrections FromColumn(const RingMatrix& column, const mpc::DcfShape& shape,
                               const mpc::HashKey& hash_key, Index keys) {
  const Index rows = shape.levels() * keys;
  return {.shape = shape,
          .hash_key = hash_key,
          .keys = keys,
          .levels = mpc::Reshaped(column.topRows(3 * rows), rows, 3),
          .last = column.bottomRows(column.rows() - 3 * rows)};
}

}  // namespace

DealtDcf DealDcf(MaskedOpening& opening, const mpc::DcfShape& shape, Index count, Index rows, Index cols,
                 const std::function<DcfDealing(const mpc::Dealer&)>& functions, int width) {
  Require(shape.bits() >= 1 && shape.bits() <= 63, "DealDcf: 1 to 63 bits");
  MaskedOpening::SharedAndSame dealt = opening.DealBoth(
      rows, cols, mpc::DcfWords(shape, count),
      [shape, count, functions](const mpc::Dealer& dealer) {
        DcfDealing of = functions(dealer);
        return MaskedOpening::SharedAndSame{
            .shared = std::move(of.shared),
            .same = ToColumn(mpc::DcfGenerate(shape, dealer.OperationsHashKey(), of.points, of.payloads,
                                              ToBlocks(dealer.Roots(dealer.roles().a, count)),
                                              ToBlocks(dealer.Roots(dealer.roles().b, count))))};
      },
      width);
  if (opening.dealer()) return {};
  return {.first = opening.first(),
          .corrections = FromColumn(dealt.same, shape, opening.HashKey(), count),
          .roots = ToBlocks(opening.DrawRoots(count)),
          .half = std::move(dealt.shared)};
}

mpc::Cost DealDcfCost(const mpc::DcfShape& shape, Index count, Index shared, int width) {
  const auto bytes = 8 * static_cast<std::uint64_t>(mpc::DcfWords(shape, count));
  return mpc::Cost::Offline({{2, 0, bytes}, {2, 1, bytes + mpc::PackedBytes(width, shared)}});
}

RingMatrix EvaluateDcf(ThreadPool& pool, const DealtDcf& keys, const RingMatrix& inputs,
                       const std::vector<int>& unread) {
  return mpc::DcfEvaluate(pool, keys.first, keys.corrections, keys.roots, inputs, unread);
}

}  // namespace trefoil::protocols

#include "protocols/comparison/threshold_comparison.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "protocols/arithmetic/input.h"
#include "protocols/comparison/dealt_dcf.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

RingMatrix BitAt(const RingMatrix& x, int bit) {
  return x.unaryExpr([bit](Word word) { return (word >> bit) & 1; });
}

mpc::DcfShape KeyShape(int bits, const Blur& blur) {
  if (blur.unread.empty()) return mpc::DcfShape(bits);
  std::vector<int> unread = blur.unread;
  std::sort(unread.begin(), unread.end(), std::greater());
  unread.erase(std::unique(unread.begin(), unread.end()), unread.end());
  return mpc::DcfShape(bits, std::move(unread));
}

/// `begin` starts the opening of x, or of what is left of it without its low bits, with a mask.
template <typename Begin>
RingMatrix CompareOpened(mpc::Context& party, MaskedOpening& opening, Shape size,
                         const std::vector<std::int64_t>& thresholds, int width, const Blur& blur,
                         Begin begin) {
  Require(width >= 2 && blur.dropped >= 0 && width + blur.dropped <= 64,
          "BelowThresholdsPair: a width of 2 to 64 bits, with those that are dropped");
  Require(blur.unread.empty() || blur.unread.size() == thresholds.size(),
          "BelowThresholdsPair: unread bits of each threshold, or none");
  const Index count = size.rows * size.cols;
  const int bits = width - 1;
  const mpc::DcfShape shape = KeyShape(bits, blur);
  const RingMatrix mask = opening.DrawMask(size.rows, size.cols);
  MaskedOpening::Part part = begin(mask);
  const DealtDcf keys = DealDcf(
      opening, shape, count, 1, count, [rows = size.rows, cols = size.cols, bits](const mpc::Dealer& dealer) {
        const RingMatrix r = mpc::Reshaped(dealer.Mask(rows, cols), 1, rows * cols);
        const RingMatrix top = BitAt(r, bits);
        return DcfDealing{
            .points = mpc::LowBits(r, bits), .payloads = Word{1} - Word{2} * top, .shared = top};
      });
  const RingMatrix c = opening.FinishOpen(std::move(part));
  if (opening.dealer()) return {};

  const auto rows = static_cast<Index>(thresholds.size());
  RingMatrix shifted(rows, count);
  for (Index k = 0; k < rows; ++k) {
    shifted.row(k) =
        mpc::Reshaped(c, 1, count).row(0) - static_cast<Word>(thresholds[static_cast<std::size_t>(k)]);
  }
  const RingMatrix low = mpc::LowBits(shifted, bits);
  const RingMatrix top = BitAt(shifted, bits);
  // With c - t = c_m 2^(width-1) + c_l: [x < t] = c_m ^ (r_m ^ [c_l < r_l]), and r_m ^ b = r_m + (1 - 2 r_m)
  // b.
  const RingMatrix inner = EvaluateDcf(party.pool(), keys, low, blur.unread) + keys.half.replicate(rows, 1);
  RingMatrix half = (Word{1} - Word{2} * top) * inner;
  if (opening.first()) half += top;
  return half;
}

}  // namespace

RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening, const mpc::ArithShare& x,
                               const std::vector<std::int64_t>& thresholds, int width, const Blur& blur) {
  Require(blur.dropped == 0, "BelowThresholdsPair: bits are dropped of a 3-of-3 sharing alone");
  return CompareOpened(party, opening, {.rows = x.rows(), .cols = x.cols()}, thresholds, width, blur,
                       [&](const RingMatrix& mask) { return opening.BeginOpen(x, 0, mask, width); });
}

mpc::Cost BelowThresholdsPairCost(Index count, int width, const Blur& blur) {
  return Then(DealDcfCost(KeyShape(width - 1, blur), count, count),
              PairExchangeCost(mpc::PackedBytes(width, count)));
}

RingMatrix BelowThresholdsPair(mpc::Context& party, MaskedOpening& opening, const mpc::AdditiveShare& x,
                               const std::vector<std::int64_t>& thresholds, int width, const Blur& blur) {
  return CompareOpened(
      party, opening, {.rows = x.rows(), .cols = x.cols()}, thresholds, width, blur,
      [&](const RingMatrix& mask) { return opening.BeginOpenQuotient(x, blur.dropped, mask, width); });
}

mpc::Cost BelowThresholdsPairOfSumCost(Index count, int width, const Blur& blur) {
  return Then(DealDcfCost(KeyShape(width - 1, blur), count, count),
              OpeningOfSumCost(mpc::PackedBytes(width, count)));
}

mpc::ArithShare BelowThresholds(mpc::Context& party, const mpc::ArithShare& x,
                                const std::vector<std::int64_t>& thresholds, int width) {
  MaskedOpening opening(party);
  RingMatrix half = BelowThresholdsPair(party, opening, x, thresholds, width);
  return opening.Reshare(std::move(half), static_cast<Index>(thresholds.size()), x.rows() * x.cols());
}

mpc::Cost BelowThresholdsCost(Index count, std::size_t thresholds, int width) {
  const auto words = 8 * static_cast<std::uint64_t>(count) * thresholds;
  return Then(BelowThresholdsPairCost(count, width), PairExchangeCost(words)).WithTurn();
}

}  // namespace trefoil::protocols

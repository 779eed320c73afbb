#include "protocols/comparison/bit_conversion.h"

#include <bit>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mpc/simd/plane_builder.h"
#include "protocols/arithmetic/masked_opening.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/comparison/adder.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kWordBits = 64;

/// b * value for the 2-of-2 parts of A and B, from the opened bit c = b ^ r and the parts of value and r *
/// value: b * value = c * value + (1 - 2c) * (r * value).
RingMatrix Unmasked(const RingMatrix& c, const RingMatrix& value, const RingMatrix& mask_times_value) {
  return c * value + (Word{1} - Word{2} * c) * mask_times_value;
}

/// The suffix-or levels: position t takes in everything from the end of its block upwards (Sklansky,
/// mirrored).
struct OrLevel {
  std::vector<Index> low;
  std::vector<Index> high;
};

std::vector<OrLevel> SuffixLevels(Index planes) {
  std::vector<OrLevel> levels;
  for (Index step = 1; step < planes; step *= 2) {
    OrLevel level;
    for (Index plane = 0; plane < planes; ++plane) {
      const Index above = (plane | (step - 1)) + 1;
      if ((plane & step) != 0 || above >= planes) continue;
      level.low.push_back(plane);
      level.high.push_back(above);
    }
    levels.push_back(level);
  }
  return levels;
}

}  // namespace

BoolShare Msb(mpc::Context& party, const ArithShare& x, int width) {
  Require(width >= 2 && width <= kWordBits, "Msb: a width of 2 to 64 bits");
  AdderStart start = StartAdder(party, x, width, CarriesOf::kAll);
  return start.sum ^ CarryOut(party, std::move(start.carries));
}

mpc::Cost MsbCost(Index count, int width) {
  return Then(StartAdderCost(count, width, CarriesOf::kAll), CarryOutCost(width - 1, count));
}

BoolShare LessThanZero(mpc::Context& party, const ArithShare& x, int width) { return Msb(party, x, width); }

BoolShare BitDecompose(mpc::Context& party, const ArithShare& x, int width) {
  Require(width >= 2 && width <= kWordBits, "BitDecompose: a width of 2 to 64 bits");
  AdderStart start = StartAdder(party, x, width, CarriesOf::kEvery);
  const BoolShare carries = AllCarries(party, std::move(start.carries));
  const BoolShare no_carry{BitMatrix(1, x.size()), BitMatrix(1, x.size())};
  return start.sum ^ Stacked(no_carry, carries);
}

mpc::Cost BitDecomposeCost(Index count, int width) {
  return Then(StartAdderCost(count, width, CarriesOf::kEvery), AllCarriesCost(width - 1, count));
}

BoolShare SuffixOr(mpc::Context& party, const BoolShare& bits) {
  BoolShare out = bits;
  for (const OrLevel& level : SuffixLevels(bits.planes())) {
    const BoolShare low = PickPlanes(out, level.low);
    const BoolShare high = PickPlanes(out, level.high);
    out = WithPlanes(out, level.low, low ^ high ^ And(party, low, high));
  }
  return out;
}

mpc::Cost SuffixOrCost(Index planes, Index count) {
  mpc::Cost cost;
  for (const OrLevel& level : SuffixLevels(planes))
    cost = Then(cost, AndCost(static_cast<Index>(level.low.size()), count));
  return cost;
}

ArithShare BitToArith(mpc::Context& party, const BoolShare& bits) {
  MaskedOpening opening(party);
  const BitMatrix mask = opening.DrawBitMask(bits.planes(), bits.count());
  const BitMatrix masked = opening.BeginOpen(bits, mask);
  const RingMatrix dealt = opening.Deal(
      bits.planes(), bits.count(), [planes = bits.planes(), count = bits.count()](const mpc::Dealer& dealer) {
        return mpc::ToWords(dealer.BitMask(planes, count));
      });
  const BitMatrix c = opening.FinishOpen(masked);
  RingMatrix half;
  if (!opening.dealer()) {
    const Word one = opening.first() ? 1 : 0;
    half = Unmasked(mpc::ToWords(c), RingMatrix::Constant(bits.planes(), bits.count(), one), dealt);
  }
  return opening.Reshare(std::move(half), bits.planes(), bits.count());
}

mpc::Cost BitToArithCost(Index planes, Index count) {
  const auto word = 8 * static_cast<std::uint64_t>(planes * count);
  const mpc::Cost opening =
      Then(mpc::Cost::Offline({{2, 1, word}}), PairExchangeCost(mpc::PackedBytes(planes, count)));
  return Then(opening, PairExchangeCost(word)).WithTurn();
}

ArithShare BitTimes(mpc::Context& party, const BoolShare& bits, const ArithShare& x) {
  Require(bits.planes() == 1 && bits.count() == x.rows() * x.cols(), "BitTimes: one bit for each element");
  MaskedOpening opening(party);
  const BitMatrix mask = opening.DrawBitMask(1, bits.count());
  const BitMatrix masked = opening.BeginOpen(bits, mask);
  const RingMatrix r_half =
      opening.Deal(x.rows(), x.cols(), [rows = x.rows(), cols = x.cols()](const mpc::Dealer& dealer) {
        return mpc::Reshaped(mpc::ToWords(dealer.BitMask(1, rows * cols)), rows, cols);
      });
  const BitMatrix c = opening.FinishOpen(masked);
  // D knows two components of x: their product with r it deals; A and B both know the third.
  RingMatrix of_dealer;
  if (opening.dealer()) {
    const BitMatrix r = opening.DrawDealersBitMask(1, bits.count());
    of_dealer = mpc::Reshaped(mpc::ToWords(r), x.rows(), x.cols()) * (x.own() + x.next());
  }
  const RingMatrix dealer_half = opening.DealOnline(of_dealer, x.rows(), x.cols());
  RingMatrix half;
  if (!opening.dealer()) {
    const RingMatrix& common = opening.first() ? x.next() : x.own();
    const RingMatrix value = opening.first() ? RingMatrix(x.own() + x.next()) : x.next();
    half = Unmasked(mpc::Reshaped(mpc::ToWords(c), x.rows(), x.cols()), value, dealer_half + r_half * common);
  }
  return opening.Reshare(std::move(half), x.rows(), x.cols());
}

mpc::Cost BitTimesCost(Index count) {
  const auto word = 8 * static_cast<std::uint64_t>(count);
  const std::uint64_t bits = mpc::PackedBytes(1, count);
  const mpc::Cost opening = mpc::Cost::Round({{0, 1, bits}, {1, 0, bits}, {2, 1, word}});
  return Then(Then(mpc::Cost::Offline({{2, 1, word}}), opening), PairExchangeCost(word)).WithTurn();
}

ArithShare Select(mpc::Context& party, const BoolShare& bits, const ArithShare& one, const ArithShare& zero) {
  return BitTimes(party, bits, one - zero) + zero;
}

}  // namespace trefoil::protocols

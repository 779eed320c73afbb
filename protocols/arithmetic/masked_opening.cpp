#include "protocols/arithmetic/masked_opening.h"

#include <utility>

#include "base/error.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::protocols {

// Component j is held by P_j and P_{j-1}. With A = P_a, B = P_{a+1}, D = P_{a+2}: A and D share component a,
// A and B share a+1, B and D share a+2, which is D's number.

using mpc::BitMatrix;
using mpc::Index;
using mpc::Purpose;
using mpc::RingMatrix;

MaskedOpening::MaskedOpening(mpc::Context& party) : MaskedOpening(party, party.NextRoles()) {}

MaskedOpening::MaskedOpening(mpc::Context& party, mpc::Roles roles)
    : party_(party), roles_(roles), operation_(party.NextOperation()) {}

MaskedOpening::MaskedOpening(MaskedOpening&& other) noexcept
    : party_(other.party_),
      roles_(other.roles_),
      operation_(other.operation_),
      taken_(std::exchange(other.taken_, ~0U)) {}

MaskedOpening MaskedOpening::WithRolesOf(const MaskedOpening& other) {
  return MaskedOpening(other.party_, other.roles_);
}

void MaskedOpening::Take(Step step) {
  const auto bit = static_cast<unsigned>(step);
  Require((taken_ & bit) == 0, "MaskedOpening: a step of an opening that was taken before");
  taken_ |= bit;
}

RingMatrix MaskedOpening::DrawMask(Index rows, Index cols) {
  Take(Step::kMask);
  if (dealer()) return {};
  return party_.Draw(ComponentWithDealer(party_.self()), Purpose::kMask, operation_, rows, cols);
}

BitMatrix MaskedOpening::DrawBitMask(Index planes, Index count) {
  Take(Step::kMask);
  if (dealer()) return {};
  return party_.DrawBits(ComponentWithDealer(party_.self()), Purpose::kMask, operation_, planes, count);
}

BitMatrix MaskedOpening::DrawDealersBitMask(Index planes, Index count) {
  Require(dealer(), "MaskedOpening::DrawDealersBitMask: of the dealer");
  Take(Step::kDealersMask);
  return party_.DrawBits(roles_.a, Purpose::kMask, operation_, planes, count) ^
         party_.DrawBits(roles_.dealer, Purpose::kMask, operation_, planes, count);
}

RingMatrix MaskedOpening::Deal(Index rows, Index cols, const Dealing& values, int width) {
  return DealBoth(
             rows, cols, 0,
             [values](const mpc::Dealer& dealer) {
               return SharedAndSame{.shared = values(dealer), .same = RingMatrix(0, 1)};
             },
             width)
      .shared;
}

MaskedOpening::SharedAndSame MaskedOpening::DealBoth(Index rows, Index cols, Index words,
                                                     const DealingBoth& values, int width) {
  Take(Step::kDeal);
  const mpc::NarrowColumns narrow{.columns = cols, .width = width};
  const std::uint64_t shared_bytes = mpc::WireBytes(narrow, rows, cols);
  const auto same_bytes = 8 * static_cast<std::uint64_t>(words);
  party_.Deal(operation_, roles_, {.to_a = same_bytes, .to_b = shared_bytes + same_bytes},
              [rows, cols, words, narrow, values](const mpc::Dealer& dealer) {
                SharedAndSame dealt = values(dealer);
                Require(dealt.shared.rows() == rows && dealt.shared.cols() == cols,
                        "MaskedOpening::DealBoth: the dealer's values have another shape");
                Require(dealt.same.rows() == words && dealt.same.cols() == 1,
                        "MaskedOpening::DealBoth: one column of the announced length");
                const auto from = [&](Index first, Index count) -> RingMatrix {
                  if (count == rows) return std::move(dealt.shared);
                  return dealt.shared.middleRows(first, count);
                };
                if (rows * cols > 0) (void)dealer.ShareRows(rows, cols, from, Purpose::kDeal, narrow);
                if (words > 0) dealer.SendSame(dealt.same);
              });
  if (dealer()) return {};
  SharedAndSame dealt{.shared = RingMatrix(rows, cols), .same = RingMatrix(words, 1)};
  if (rows * cols > 0) {
    dealt.shared = first() ? party_.Draw(roles_.a, Purpose::kDeal, operation_, rows, cols)
                           : Widened(party_.ReceiveDealt(roles_.dealer, rows, cols, narrow));
  }
  if (words > 0) dealt.same = party_.ReceiveWords(roles_.dealer, words, 1, net::Phase::kOffline);
  return dealt;
}

mpc::HalfMatrix MaskedOpening::DealHalves(Index rows, Index cols, const DealingHalves& values) {
  Take(Step::kDeal);
  const auto bytes = sizeof(mpc::HalfWord) * static_cast<std::uint64_t>(rows * cols);
  party_.Deal(operation_, roles_, {.to_a = 0, .to_b = bytes},
              [rows, cols, values](const mpc::Dealer& dealer) {
                mpc::HalfMatrix dealt = values(dealer);
                Require(dealt.rows() == rows && dealt.cols() == cols,
                        "MaskedOpening::DealHalves: the dealer's values have another shape");
                if (rows * cols > 0) dealer.ShareHalves(std::move(dealt));
              });
  if (dealer()) return {};
  if (rows * cols == 0) return {rows, cols};
  return first() ? party_.DrawHalves(roles_.a, Purpose::kDeal, operation_, rows, cols)
                 : party_.ReceiveDealtHalves(roles_.dealer, rows, cols);
}

RingMatrix MaskedOpening::DealOnline(const RingMatrix& values, Index rows, Index cols) {
  Take(Step::kDealOnline);
  if (party_.self() == roles_.b) return party_.ReceiveWords(roles_.dealer, rows, cols);
  RingMatrix half = party_.Draw(roles_.a, Purpose::kInput, operation_, rows, cols);
  if (first()) return half;
  Require(values.rows() == rows && values.cols() == cols,
          "MaskedOpening::DealOnline: the dealer's values have another shape");
  party_.SendWords(roles_.b, mpc::DifferenceOf(values, half));
  return {};
}

RingMatrix MaskedOpening::DrawRoots(Index count) {
  Require(!dealer(), "MaskedOpening::DrawRoots: of A or B");
  Take(Step::kRoots);
  return party_.Draw(ComponentWithDealer(party_.self()), Purpose::kRoots, operation_, count, 2);
}

MaskedOpening::Part MaskedOpening::BeginOpen(const mpc::ArithShare& x, mpc::Word offset,
                                             const RingMatrix& mask, int bits) {
  Take(Step::kOpen);
  if (dealer()) return {};
  // A holds x_a + x_{a+1}, B holds x_{a+2}.
  return SentPart(first() ? mpc::SumOf(x.own(), x.next(), mask, offset) : mpc::SumOf(x.next(), mask), bits,
                  false);
}

MaskedOpening::Part MaskedOpening::BeginOpenPair(const RingMatrix& half, mpc::Word offset,
                                                 const RingMatrix& mask, int bits) {
  Take(Step::kOpen);
  if (dealer()) return {};
  RingMatrix words = mpc::SumOf(half, mask);
  if (first() && offset != 0) words += offset;
  return SentPart(std::move(words), bits, false);
}

MaskedOpening::Part MaskedOpening::BeginOpen(const mpc::AdditiveShare& x, mpc::Word offset,
                                             const RingMatrix& mask, int bits) {
  Take(Step::kOpen);
  RingMatrix zero = party_.DrawZero(operation_, x.rows(), x.cols());
  if (dealer()) return {.words = mpc::SumOf(std::move(zero), x.part()), .bits = bits, .from_dealer = true};
  return SentPart(mpc::SumOf(std::move(zero), x.part(), mask, first() ? offset : 0), bits, true);
}

MaskedOpening::Part MaskedOpening::BeginOpenQuotient(const mpc::AdditiveShare& x, int dropped,
                                                     const RingMatrix& mask, int bits) {
  if (dropped == 0) return BeginOpen(x, 0, mask, bits);
  Require(dropped > 0 && bits + dropped <= 64, "MaskedOpening::BeginOpenQuotient: bits that are left");
  Take(Step::kOpen);
  RingMatrix words = mpc::SumOf(party_.DrawZero(operation_, x.rows(), x.cols()), x.part());
  words = words.unaryExpr([dropped](mpc::Word word) { return word >> dropped; }).eval();
  if (dealer()) return {.words = std::move(words), .bits = bits, .from_dealer = true};
  return SentPart(mpc::SumOf(std::move(words), mask), bits, true);
}

MaskedOpening::Part MaskedOpening::SentPart(RingMatrix words, int bits, bool from_dealer) {
  Part part{.words = std::move(words), .bits = bits, .from_dealer = from_dealer};
  SendLow(other(), part.words, part.bits);
  return part;
}

RingMatrix MaskedOpening::FinishOpen(Part part) {
  Take(Step::kFinish);
  if (dealer()) {
    if (part.from_dealer) {
      SendLow(roles_.a, part.words, part.bits);
      SendLow(roles_.b, part.words, part.bits);
    }
    return {};
  }
  AddReceivedLow(other(), part.bits, part.words);
  if (part.from_dealer) AddReceivedLow(roles_.dealer, part.bits, part.words);
  return std::move(part.words);
}

BitMatrix MaskedOpening::BeginOpen(const mpc::BoolShare& b, const BitMatrix& mask) {
  Take(Step::kOpen);
  if (dealer()) return {};
  BitMatrix half = first() ? b.own() ^ b.next() ^ mask : b.next() ^ mask;
  party_.SendBits(other(), half);
  return half;
}

BitMatrix MaskedOpening::FinishOpen(const BitMatrix& half) {
  Take(Step::kFinish);
  if (dealer()) return {};
  return half ^ party_.ReceiveBits(other(), half.planes(), half.count());
}

void MaskedOpening::SendLow(int peer, const RingMatrix& words, int bits) {
  if (bits == 64) {
    party_.SendWords(peer, words);
  } else {
    party_.SendBits(peer, mpc::ToPlanes(words, bits));
  }
}

void MaskedOpening::AddReceivedLow(int peer, int bits, RingMatrix& sum) {
  if (bits == 64) {
    party_.AddReceivedWords(peer, sum);
  } else {
    sum += mpc::FromPlanes(party_.ReceiveBits(peer, bits, sum.size()), sum.rows(), sum.cols());
  }
}

mpc::ArithShare MaskedOpening::Reshare(RingMatrix half, Index rows, Index cols, int width) {
  Require(dealer() || (half.rows() == rows && half.cols() == cols),
          "MaskedOpening::Reshare: another shape than announced");
  Take(Step::kReshare);
  const auto below_width = [width](RingMatrix words) {
    return width == 64 ? std::move(words) : mpc::LowBits(words, width);
  };
  const auto drawn = [&](int component) {
    return below_width(party_.Draw(component, Purpose::kReshare, operation_, rows, cols));
  };
  if (dealer()) return {drawn(roles_.dealer), drawn(roles_.a)};
  RingMatrix with_dealer = drawn(ComponentWithDealer(party_.self()));
  RingMatrix rest = mpc::DifferenceOf(std::move(half), with_dealer);
  SendLow(other(), rest, width);
  AddReceivedLow(other(), width, rest);
  rest = below_width(std::move(rest));
  if (first()) return {std::move(with_dealer), std::move(rest)};
  return {std::move(rest), std::move(with_dealer)};
}

mpc::Cost PairExchangeCost(std::uint64_t bytes) { return mpc::Cost::Round({{0, 1, bytes}, {1, 0, bytes}}); }

mpc::Cost OpeningOfSumCost(std::uint64_t bytes) {
  return mpc::Cost::Round({{0, 1, bytes}, {1, 0, bytes}, {2, 0, bytes}, {2, 1, bytes}});
}

}  // namespace trefoil::protocols

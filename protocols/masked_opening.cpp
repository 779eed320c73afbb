#include "protocols/masked_opening.h"

#include <utility>

#include "base/error.h"

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

MaskedOpening MaskedOpening::WithRolesOf(const MaskedOpening& other) { return {other.party_, other.roles_}; }

RingMatrix MaskedOpening::DrawMask(Index rows, Index cols) {
  if (!dealer())
    return party_.Draw(ComponentWithDealer(party_.self()), Purpose::kMask, operation_, rows, cols);
  return party_.Draw(roles_.a, Purpose::kMask, operation_, rows, cols) +
         party_.Draw(roles_.dealer, Purpose::kMask, operation_, rows, cols);
}

BitMatrix MaskedOpening::DrawBitMask(Index planes, Index count) {
  if (!dealer())
    return party_.DrawBits(ComponentWithDealer(party_.self()), Purpose::kMask, operation_, planes, count);
  return party_.DrawBits(roles_.a, Purpose::kMask, operation_, planes, count) ^
         party_.DrawBits(roles_.dealer, Purpose::kMask, operation_, planes, count);
}

RingMatrix MaskedOpening::Deal(Index rows, Index cols, const Dealing& values) {
  const auto bytes = 8 * static_cast<std::uint64_t>(rows * cols);
  party_.Deal(operation_, roles_, {.to_a = 0, .to_b = bytes},
              [rows, cols, values](const mpc::Dealer& dealer) {
                RingMatrix dealt = values(dealer);
                Require(dealt.rows() == rows && dealt.cols() == cols,
                        "MaskedOpening::Deal: the dealer's values have another shape");
                dealer.Share(std::move(dealt));
              });
  if (dealer()) return {};
  if (first()) return party_.Draw(roles_.a, Purpose::kDeal, operation_, rows, cols);
  return party_.ReceiveWords(roles_.dealer, rows, cols, net::Phase::kOffline);
}

RingMatrix MaskedOpening::DealOnline(const RingMatrix& values, Index rows, Index cols) {
  if (party_.self() == roles_.b) return party_.ReceiveWords(roles_.dealer, rows, cols);
  RingMatrix half = party_.Draw(roles_.a, Purpose::kInput, operation_, rows, cols);
  if (first()) return half;
  Require(values.rows() == rows && values.cols() == cols,
          "MaskedOpening::DealOnline: the dealer's values have another shape");
  party_.SendWords(roles_.b, values - half);
  return {};
}

RingMatrix MaskedOpening::DealSame(Index rows, const Dealing& words) {
  const auto bytes = 8 * static_cast<std::uint64_t>(rows);
  party_.Deal(operation_, roles_, {.to_a = bytes, .to_b = bytes}, [rows, words](const mpc::Dealer& dealer) {
    const RingMatrix dealt = words(dealer);
    Require(dealt.rows() == rows && dealt.cols() == 1,
            "MaskedOpening::DealSame: one column of the announced length");
    dealer.SendSame(dealt);
  });
  if (dealer()) return {};
  return party_.ReceiveWords(roles_.dealer, rows, 1, net::Phase::kOffline);
}

RingMatrix MaskedOpening::DrawRoots(Index count) {
  Require(!dealer(), "MaskedOpening::DrawRoots: of A or B");
  return party_.Draw(ComponentWithDealer(party_.self()), Purpose::kRoots, operation_, count, 2);
}

MaskedOpening::Part MaskedOpening::BeginOpen(const mpc::ArithShare& x, mpc::Word offset,
                                             const RingMatrix& mask, int bits) {
  if (dealer()) return {};
  // A holds x_a + x_{a+1}, B holds x_{a+2}: a 2-of-2 sharing without talking.
  return SentPart(first() ? RingMatrix(x.own() + x.next() + mask + offset) : RingMatrix(x.next() + mask),
                  bits, false);
}

MaskedOpening::Part MaskedOpening::BeginOpenPair(const RingMatrix& half, mpc::Word offset,
                                                 const RingMatrix& mask) {
  if (dealer()) return {};
  return SentPart(half + mask + (first() ? offset : 0), 64, false);
}

MaskedOpening::Part MaskedOpening::BeginOpen(const mpc::AdditiveShare& x, mpc::Word offset,
                                             const RingMatrix& mask, int bits) {
  RingMatrix words = x.part() + party_.DrawZero(operation_, x.rows(), x.cols());
  if (dealer()) return {.words = words + mask, .bits = bits, .from_dealer = true};
  if (first()) words += offset;
  return SentPart(std::move(words), bits, true);
}

MaskedOpening::Part MaskedOpening::SentPart(RingMatrix words, int bits, bool from_dealer) {
  Part part{.words = std::move(words), .bits = bits, .from_dealer = from_dealer};
  SendLow(other(), part.words, part.bits);
  return part;
}

RingMatrix MaskedOpening::FinishOpen(const Part& part) {
  if (dealer()) {
    if (part.from_dealer) {
      SendLow(roles_.a, part.words, part.bits);
      SendLow(roles_.b, part.words, part.bits);
    }
    return {};
  }
  RingMatrix sum = part.words + ReceiveLow(other(), part.words.rows(), part.words.cols(), part.bits);
  if (part.from_dealer) sum += ReceiveLow(roles_.dealer, sum.rows(), sum.cols(), part.bits);
  return sum;
}

BitMatrix MaskedOpening::BeginOpen(const mpc::BoolShare& b, const BitMatrix& mask) {
  if (dealer()) return {};
  BitMatrix half = first() ? b.own() ^ b.next() ^ mask : b.next() ^ mask;
  party_.SendBits(other(), half);
  return half;
}

BitMatrix MaskedOpening::FinishOpen(const BitMatrix& half) {
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

RingMatrix MaskedOpening::ReceiveLow(int peer, Index rows, Index cols, int bits) {
  if (bits == 64) return party_.ReceiveWords(peer, rows, cols);
  return mpc::FromPlanes(party_.ReceiveBits(peer, bits, rows * cols), rows, cols);
}

mpc::ArithShare MaskedOpening::Reshare(const RingMatrix& half, Index rows, Index cols) {
  if (dealer()) {
    return {party_.Draw(roles_.dealer, Purpose::kReshare, operation_, rows, cols),
            party_.Draw(roles_.a, Purpose::kReshare, operation_, rows, cols)};
  }
  Require(half.rows() == rows && half.cols() == cols, "MaskedOpening::Reshare: another shape than announced");
  RingMatrix with_dealer =
      party_.Draw(ComponentWithDealer(party_.self()), Purpose::kReshare, operation_, rows, cols);
  RingMatrix rest = half - with_dealer;
  party_.SendWords(other(), rest);
  rest += party_.ReceiveWords(other(), rows, cols);
  if (first()) return {std::move(with_dealer), std::move(rest)};
  return {std::move(rest), std::move(with_dealer)};
}

mpc::Cost PairExchangeCost(std::uint64_t bytes) { return mpc::Cost::Round({{0, 1, bytes}, {1, 0, bytes}}); }

}  // namespace trefoil::protocols

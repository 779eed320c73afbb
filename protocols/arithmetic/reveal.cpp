#include "protocols/arithmetic/reveal.h"

#include <utility>

#include "base/error.h"

namespace trefoil::protocols {

// Party i lacks component i - 1, which the party before it holds first.

mpc::RingMatrix Reveal(mpc::Context& party, const mpc::ArithShare& x) {
  party.SendWords(party.next(), x.own());
  return x.own() + x.next() + party.ReceiveWords(party.previous(), x.rows(), x.cols());
}

mpc::Cost RevealCost(mpc::Index count) {
  return mpc::Cost::EachToNext(8 * static_cast<std::uint64_t>(count));
}

std::optional<mpc::RingMatrix> RevealTo(mpc::Context& party, int receiver, const mpc::ArithShare& x) {
  Require(receiver >= 0 && receiver < net::kParties, "RevealTo: party 0, 1 or 2");
  if (party.next() == receiver) party.SendWords(receiver, x.own());
  if (party.self() != receiver) return std::nullopt;
  return x.own() + x.next() + party.ReceiveWords(party.previous(), x.rows(), x.cols());
}

mpc::Cost RevealToCost(int receiver, mpc::Index count) {
  return mpc::Cost::Round(
      {{(receiver + 2) % net::kParties, receiver, 8 * static_cast<std::uint64_t>(count)}});
}

std::optional<mpc::RingMatrix> RevealToEach(mpc::Context& party, const std::vector<int>& receivers,
                                            const mpc::ArithShare& x) {
  std::optional<mpc::RingMatrix> opened;
  for (const int receiver : receivers) {
    auto values = RevealTo(party, receiver, x);
    if (values) opened = std::move(values);
  }
  return opened;
}

mpc::Cost RevealToEachCost(const std::vector<int>& receivers, mpc::Index count) {
  mpc::Cost cost;
  for (const int receiver : receivers) cost = ThenUnturned(cost, RevealToCost(receiver, count));
  return cost;
}

mpc::BitMatrix RevealBits(mpc::Context& party, const mpc::BoolShare& x) {
  party.SendBits(party.next(), x.own());
  return x.own() ^ x.next() ^ party.ReceiveBits(party.previous(), x.planes(), x.count());
}

mpc::Cost RevealBitsCost(mpc::Index planes, mpc::Index count) {
  return mpc::Cost::EachToNext(mpc::PackedBytes(planes, count));
}

}  // namespace trefoil::protocols

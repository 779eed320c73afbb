#include "protocols/arithmetic/agreement.h"

#include <sodium.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/length_prefix.h"
#include "base/secrets/random.h"

namespace trefoil::protocols {
namespace {

void SendToBoth(mpc::Context& party, const net::Bytes& bytes) {
  party.transport().Send(party.next(), bytes);
  party.transport().Send(party.previous(), bytes);
}

/// Each party sends `bytes` to both others.
mpc::Cost ToBothCost(std::uint64_t bytes) {
  return InOneRound(mpc::Cost::EachToNext(bytes), mpc::Cost::EachToPrevious(bytes));
}

net::Bytes BytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Whoever ends at once may keep the others from hearing what they need to say the same.
void AwaitRefusals(mpc::Context& party) {
  try {
    Barrier(party);
  } catch (const NetworkError&) {  // whom the barrier waited for has gone: the cause is still this party's
  } catch (const BudgetError&) {   // what a peer says that has refused on its budget's account already
  } catch (const ProtocolError&) {
  }
}

}  // namespace

void RequireSameEverywhere(mpc::Context& party, const std::string& text, const std::string& what) {
  net::Bytes digest(crypto_generichash_BYTES);
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  SendToBoth(party, digest);
  int other = -1;
  for (const int peer : {party.next(), party.previous()}) {
    if (party.transport().Receive(peer, digest.size()) != digest && other < 0) other = peer;
  }
  if (other < 0) return;
  RefuseTogether(party, ConfigError("party " + std::to_string(other) + " derived other " + what +
                                    " than this party; all three must run the same version of this program, "
                                    "with the same version of the system's libraries"));
}

mpc::Cost RequireSameEverywhereCost() { return ToBothCost(crypto_generichash_BYTES); }

std::array<std::string, net::kParties> ExchangeTexts(mpc::Context& party, const std::string& own,
                                                     std::size_t limit) {
  Require(own.size() <= limit, "ExchangeTexts: a text within the limit");
  SendToBoth(party, BytesOf(WithLength(own)));  // so that one that arrives short is found out
  std::array<std::string, net::kParties> texts;
  texts[static_cast<std::size_t>(party.self())] = own;
  for (const int peer : {party.next(), party.previous()}) {
    const net::Bytes theirs = party.transport().ReceiveUpTo(peer, kLengthBytes + limit);
    const std::string_view bytes(reinterpret_cast<const char*>(theirs.data()), theirs.size());
    if (bytes.size() < kLengthBytes || LengthIn(bytes) != bytes.size() - kLengthBytes)
      throw ProtocolError("party " + std::to_string(peer) + ": sent a text of another length than it said",
                          peer);
    texts[static_cast<std::size_t>(peer)] = bytes.substr(kLengthBytes);
  }
  return texts;
}

mpc::Cost ExchangeTextsCost(const std::array<std::uint64_t, net::kParties>& bytes) {
  const auto sent = [&](std::size_t party) { return kLengthBytes + bytes[party]; };
  return mpc::Cost::Round(
      {{0, 1, sent(0)}, {0, 2, sent(0)}, {1, 2, sent(1)}, {1, 0, sent(1)}, {2, 0, sent(2)}, {2, 1, sent(2)}});
}

void Barrier(mpc::Context& party) {
  SendToBoth(party, {});
  for (const int peer : {party.next(), party.previous()}) (void)party.transport().Receive(peer, 0);
}

void RefuseTogether(mpc::Context& party, const ConfigError& cause) {
  AwaitRefusals(party);
  throw ConfigError(cause);
}

void RefuseTogether(mpc::Context& party, const BudgetError& cause) {
  AwaitRefusals(party);
  throw BudgetError(cause);
}

void RefuseTogether(mpc::Context& party, const DataError& cause) {
  AwaitRefusals(party);
  throw DataError(cause);
}

mpc::Cost BarrierCost() { return ToBothCost(0); }

SecretKey JointSeed(mpc::Context& party) {
  const SecretKey own = RandomKey();
  const auto* bytes = reinterpret_cast<const std::byte*>(own.bytes().data());
  SendToBoth(party, net::Bytes(bytes, bytes + SecretKey::kBytes));
  SecretKey joint(own.bytes());
  for (const int peer : {party.next(), party.previous()}) {
    const net::Bytes theirs = party.transport().Receive(peer, SecretKey::kBytes);
    for (std::size_t i = 0; i < SecretKey::kBytes; ++i)
      joint.bytes()[i] ^= std::to_integer<std::uint8_t>(theirs[i]);
  }
  return joint;
}

mpc::Cost JointSeedCost() { return ToBothCost(SecretKey::kBytes); }

mpc::Cost AgreeOnKeysCost() { return ToBothCost(crypto_scalarmult_BYTES); }

}  // namespace trefoil::protocols

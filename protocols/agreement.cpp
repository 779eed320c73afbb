#include "protocols/agreement.h"

#include <sodium.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

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

}  // namespace

void RequireSameEverywhere(mpc::Context& party, const std::string& text, const std::string& what) {
  net::Bytes digest(crypto_generichash_BYTES);
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  SendToBoth(party, digest);
  for (const int peer : {party.next(), party.previous()}) {
    if (party.transport().Receive(peer, digest.size()) != digest) {
      throw ConfigError("party " + std::to_string(peer) + " derived other " + what +
                        " than this party; all three must run the same version of this program");
    }
  }
}

mpc::Cost RequireSameEverywhereCost() { return ToBothCost(crypto_generichash_BYTES); }

void Barrier(mpc::Context& party) {
  SendToBoth(party, {});
  for (const int peer : {party.next(), party.previous()}) (void)party.transport().Receive(peer, 0);
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

#include "protocols/arithmetic/component_check.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/secrets/secure_memory.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::protocols {
namespace {

constexpr std::size_t kHash = crypto_generichash_BYTES;

/// BLAKE2b-256 under a key that both holders of a component draw from its stream.
class ComponentHash {
 public:
  ComponentHash(mpc::Context& party, int component, mpc::OperationId operation) {
    constexpr auto kWords = static_cast<mpc::Index>(SecretKey::kBytes / sizeof(mpc::Word));
    mpc::RingMatrix words = party.Draw(component, mpc::Purpose::kCheck, operation, kWords, 1);
    SecretKey key;
    std::memcpy(key.bytes().data(), words.data(), SecretKey::kBytes);
    sodium_memzero(words.data(), SecretKey::kBytes);
    crypto_generichash_init(&state_, key.bytes().data(), key.bytes().size(), kHash);
    Number(static_cast<std::uint64_t>(component));
  }
  ~ComponentHash() { sodium_memzero(&state_, sizeof state_); }
  ComponentHash(const ComponentHash&) = delete;
  ComponentHash& operator=(const ComponentHash&) = delete;

  void Number(std::uint64_t number) { Bytes(&number, sizeof number); }
  void Words(const mpc::RingMatrix& words) {
    Number(static_cast<std::uint64_t>(words.rows()));
    Number(static_cast<std::uint64_t>(words.cols()));
    Bytes(words.data(), sizeof(mpc::Word) * static_cast<std::size_t>(words.size()));
  }
  void Text(const std::string& text) {
    Number(text.size());
    Bytes(text.data(), text.size());
  }
  void Finish(std::span<std::byte> out) {
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(out.data()), out.size());
  }

 private:
  void Bytes(const void* bytes, std::size_t count) {
    if (count > 0) crypto_generichash_update(&state_, static_cast<const unsigned char*>(bytes), count);
  }

  crypto_generichash_state state_{};
};

/// Of both components that this party holds, the own one first.
net::Bytes HashesOf(mpc::Context& party, std::initializer_list<const mpc::ArithShare*> shares,
                    const std::string& common) {
  const auto operation = party.NextOperation();
  net::Bytes hashes(2 * kHash);
  const auto hash = [&](int component, std::span<std::byte> out, const auto& words_of) {
    ComponentHash digest(party, component, operation);
    digest.Text(common);
    for (const mpc::ArithShare* share : shares) digest.Words(words_of(*share));
    digest.Finish(out);
  };
  const std::span<std::byte> all(hashes);
  hash(
      party.self(), all.first(kHash), [](const mpc::ArithShare& share) -> auto& { return share.own(); });
  hash(
      party.next(), all.last(kHash), [](const mpc::ArithShare& share) -> auto& { return share.next(); });
  return hashes;
}

/// Of which components the holders' hashes differ.
std::array<bool, net::kParties> DifferencesIn(const std::array<net::Bytes, net::kParties>& hashes) {
  std::array<bool, net::kParties> differ{};
  for (std::size_t j = 0; j < differ.size(); ++j) {
    const net::Bytes& owner = hashes.at(j);
    const net::Bytes& before = hashes.at((j + net::kParties - 1) % net::kParties);
    differ.at(j) = !std::equal(owner.begin(), owner.begin() + kHash, before.begin() + kHash);
  }
  return differ;
}

/// A party whose two components alone differ is the odd one; one component does not say whose is wrong.
std::string Blame(const std::array<bool, net::kParties>& differ, int self, const std::string& what) {
  const auto name = [self](int party) {
    return party == self ? std::string("this party") : "party " + std::to_string(party);
  };
  const auto count = std::count(differ.begin(), differ.end(), true);
  if (count == net::kParties) return "no two parties hold a " + what + " that belong together";
  for (int party = 0; party < net::kParties; ++party) {
    const int next = (party + 1) % net::kParties;
    const bool own = differ.at(static_cast<std::size_t>(party));
    const bool both = own && differ.at(static_cast<std::size_t>(next));
    if (both) return name(party) + " holds a " + what + " that does not belong with the other two's";
    if (own && count == 1)
      return name((party + 2) % net::kParties) + " and " + name(party) + " hold each a " + what +
             ", of which a component differs";
  }
  return {};
}

}  // namespace

void RequireSharesOfOne(mpc::Context& party, std::initializer_list<const mpc::ArithShare*> shares,
                        const ComparedShares& compared) {
  std::array<net::Bytes, net::kParties> hashes;
  // Step 1: each party's keyed hashes to both others.
  const auto own = HashesOf(party, shares, compared.common);
  hashes.at(static_cast<std::size_t>(party.self())) = own;
  party.transport().Send(party.next(), own);
  party.transport().Send(party.previous(), own);
  for (const int peer : {party.next(), party.previous()})
    hashes.at(static_cast<std::size_t>(peer)) = party.transport().Receive(peer, 2 * kHash);
  // Step 2: all three see the same hashes, and say the same.
  const auto differ = DifferencesIn(hashes);
  if (std::none_of(differ.begin(), differ.end(), [](bool one) { return one; })) return;
  RefuseTogether(party, ConfigError(Blame(differ, party.self(), compared.what) + ": " + compared.remedy));
}

mpc::Cost RequireSharesOfOneCost() {
  return InOneRound(mpc::Cost::EachToNext(2 * kHash), mpc::Cost::EachToPrevious(2 * kHash));
}

}  // namespace trefoil::protocols

#include "ml/batches/row_keys.h"

#include <sodium.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/comparison/equality.h"

namespace trefoil::ml {
namespace {

constexpr std::size_t kDigestBytes = 16;
constexpr mpc::Index kDigestBits = 128;

void Append(crypto_generichash_state& state, std::uint64_t number) {
  std::array<unsigned char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, bytes.size());
  crypto_generichash_update(&state, bytes.data(), bytes.size());
}

/// Of each key's length and bytes: no two lists give the same input.
mpc::BitMatrix DigestOf(const std::vector<std::string>& keys, const SecretKey& seed) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, seed.bytes().data(), SecretKey::kBytes, kDigestBytes);
  for (const auto& key : keys) {
    Append(state, key.size());
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  }
  std::array<unsigned char, kDigestBytes> digest{};
  crypto_generichash_final(&state, digest.data(), digest.size());
  mpc::BitMatrix bits(kDigestBits, 1);
  for (mpc::Index bit = 0; bit < kDigestBits; ++bit) {
    if ((digest.at(static_cast<std::size_t>(bit / 8)) >> (bit % 8) & 1U) != 0) bits.set(bit, 0);
  }
  return bits;
}

}  // namespace

void RequireSameKeys(mpc::Context& party, const std::vector<std::string>& keys) {
  const SecretKey seed = protocols::JointSeed(party);
  const mpc::BoolShare equal = protocols::EqualEverywhere(party, DigestOf(keys, seed));
  if (protocols::RevealBits(party, equal, protocols::ReleaseReason::kSameRowKeys).bit(0, 0)) return;
  // Nobody ends before all three know, so that all name this cause and not each other's end.
  try {
    protocols::Barrier(party);
  } catch (const NetworkError&) {
    // A peer has ended already: it knew.
  }
  throw DataError(
      "the key column: found other keys at this party than at the others, or at one of them, expected the "
      "same rows at all three");
}

mpc::Cost RequireSameKeysCost() {
  auto cost = Then(protocols::JointSeedCost(), protocols::EqualEverywhereCost(kDigestBits, 1));
  return Then(cost, protocols::RevealBitsCost(1, 1));
}

}  // namespace trefoil::ml

#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpc/ring.h"

namespace trefoil::mpc {

/// A 128-bit block, in memory order: the low word first.
struct Block {
  Word low = 0;
  Word high = 0;
};

/// A public AES-128 key: of one batch of comparison functions (mpc/prss.h).
using HashKey = std::array<unsigned char, 16>;

/// AES_k(s) ^ s for each block: the Matyas-Meyer-Oseas mode under a public key k, taken to be a random
/// function (ideal cipher), and for two keys to be two of them. All instruction sets give the same result;
/// the best one that the processor has is taken. Its methods may be called from many threads at once.
class SeedHash {
 public:
  static constexpr std::size_t kRounds = 10;
  using RoundKeys = std::array<std::uint8_t, (kRounds + 1) * 16>;

  explicit SeedHash(const HashKey& key);

  /// Pre: `out` has room for as many blocks (else ContractError), and does not overlap `in`.
  void Hash(std::span<const Block> in, std::span<Block> out) const;
  /// The same by OpenSSL, whatever the processor has. Pre: as Hash, and less than 2 GiB.
  void HashByLibrary(std::span<const Block> in, std::span<Block> out) const;

  /// FIPS 197, section 5.2; the key itself comes first. Without meaning where the processor has no vectors.
  [[nodiscard]] const RoundKeys& round_keys() const { return round_keys_; }

 private:
  HashKey key_;
  RoundKeys round_keys_{};
};

}  // namespace trefoil::mpc

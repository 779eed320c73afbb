#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/secrets/secure_memory.h"

namespace trefoil {

/// Makes libsodium ready (once per process; thread-safe). Throws std::runtime_error if it cannot start.
void InitialiseSodium();

/// Fills `out` from the operating system's generator.
void FillRandom(std::span<std::uint8_t> out);

/// A fresh key from the operating system's generator.
[[nodiscard]] SecretKey RandomKey();

/// A cryptographic stream of private random words (ChaCha20, libsodium), for a party's own coins and noise.
/// Production code seeds it from the operating system; only tests pass a key of their own.
/// Not thread-safe: one stream per thread.
class RandomStream {
 public:
  /// A stream with a fresh key from the operating system.
  static RandomStream FromSystem();
  /// Restartable: the same key gives the same words.
  explicit RandomStream(SecretKey key);
  RandomStream(RandomStream&&) noexcept = default;
  RandomStream& operator=(RandomStream&&) = delete;
  /// Words that were not taken are wiped, like the key.
  ~RandomStream();

  /// 64 uniform bits.
  std::uint64_t NextWord();

 private:
  void Refill();

  static constexpr std::size_t kBlockWords = 512;
  SecretKey key_;
  std::uint64_t next_block_ = 0;
  std::vector<std::uint64_t> buffer_;
  std::size_t position_ = 0;
};

}  // namespace trefoil

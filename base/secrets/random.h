#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/secrets/secure_memory.h"

struct evp_cipher_ctx_st;  // OpenSSL's EVP_CIPHER_CTX

namespace trefoil {

/// Makes libsodium ready (once per process; thread-safe). Throws std::runtime_error if it cannot start.
void InitialiseSodium();

/// Fills `out` from the operating system's generator.
void FillRandom(std::span<std::uint8_t> out);

/// A fresh key from the operating system's generator.
[[nodiscard]] SecretKey RandomKey();

/// A cryptographic stream of private random words, for a party's own coins and noise: ChaCha20 with a nonce
/// and a counter of 64 bits, a nonce for each 4,096 bytes. By OpenSSL, which makes three times as many as
/// libsodium with the processor's widest vectors. Production code seeds it from the operating system; only
/// tests pass a key of their own. Not thread-safe: one stream per thread.
class RandomStream {
 public:
  /// A stream with a fresh key from the operating system.
  static RandomStream FromSystem();
  /// Restartable: the same key gives the same words.
  explicit RandomStream(const SecretKey& key);
  RandomStream(RandomStream&&) noexcept = default;
  RandomStream& operator=(RandomStream&&) = delete;
  /// Words that were not taken are wiped, like the key.
  ~RandomStream();

  /// 64 uniform bits.
  std::uint64_t NextWord() {
    if (position_ == kBlockWords) Refill();
    return std::exchange(buffer_[position_++], 0);
  }

 private:
  void Refill();

  static constexpr std::size_t kBlockWords = 512;
  std::unique_ptr<evp_cipher_ctx_st, void (*)(evp_cipher_ctx_st*)> cipher_;  ///< wipes the key with itself
  std::uint64_t next_block_ = 0;
  std::vector<std::uint64_t> buffer_;
  std::size_t position_ = 0;
};

}  // namespace trefoil

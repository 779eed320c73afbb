#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/secrets/secure_memory.h"

namespace trefoil {

/// Secrets at rest: authenticated encryption under a key of this machine (XChaCha20-Poly1305 of libsodium,
/// with a random nonce of 192 bits, so that one key seals any number of files).

/// A key for `purpose`, from a secret that has 256 bits of entropy, such as a private key's file; another
/// purpose gives an unrelated key. BLAKE2b-256 keyed with the purpose. Pre: purpose of 1 to 64 bytes.
[[nodiscard]] SecretKey DeriveKey(std::span<const std::uint8_t> secret, std::string_view purpose);

/// `secret` sealed: nonce, then ciphertext with its tag, 40 bytes longer. `header` is not part of it but
/// opens it only if it is the same.
[[nodiscard]] std::vector<std::uint8_t> Seal(const SecretKey& key, std::string_view header,
                                             std::span<const std::uint8_t> secret);

/// What was sealed; nothing if the key, the header or a bit of `sealed` is another. The caller wipes it.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> Unseal(const SecretKey& key, std::string_view header,
                                                              std::span<const std::uint8_t> sealed);

/// Overwrites bytes that were secret with zeros; not optimised away.
void Wipe(std::span<std::uint8_t> bytes) noexcept;

}  // namespace trefoil

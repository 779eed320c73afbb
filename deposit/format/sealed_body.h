#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deposit/keys.h"
#include "jobs/files/sealed_file.h"

namespace trefoil::deposit {

/// A body that only its recipient can open, and only with the header that it was sealed with: a fresh X25519
/// key pair, whose public half comes first; a key from the secret that it shares with the recipient, from
/// both public keys and the header, by BLAKE2b; libsodium's secretstream (XChaCha20-Poly1305) in chunks of 64
/// KiB, each with the header as associated data, the last one marked as such (docs/reference/deposits.md,
/// "The body").

/// Of a body of so many bytes. Pre: at least one.
[[nodiscard]] std::size_t SealedBytes(std::size_t body_bytes);

/// Seals. Pre: not empty. Throws ConfigError for a recipient's key of small order.
[[nodiscard]] std::string SealBody(std::span<const std::uint8_t> body, const PublicKey& recipient,
                                   std::string_view header);

/// The body; nothing if the key or the header is another, or any bit of `sealed`. Time and memory are in
/// proportion to sealed.size().
[[nodiscard]] std::optional<jobs::SecretBytes> OpenBody(std::span<const std::uint8_t> sealed,
                                                        const KeyPair& recipient, std::string_view header);

}  // namespace trefoil::deposit

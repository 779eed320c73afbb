#include "base/secrets/sealed_box.h"

#include <sodium.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/secrets/random.h"

namespace trefoil {
namespace {

constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == SecretKey::kBytes);

const std::uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

SecretKey DeriveKey(std::span<const std::uint8_t> secret, std::string_view purpose) {
  Require(!purpose.empty() && purpose.size() <= crypto_generichash_KEYBYTES_MAX,
          "DeriveKey: a purpose of 1 to 64 bytes");
  SecretKey key;
  // BLAKE2b takes keys of 16 bytes and more.
  std::vector<std::uint8_t> padded(crypto_generichash_KEYBYTES_MAX);
  std::copy(purpose.begin(), purpose.end(), padded.begin());
  if (crypto_generichash(key.bytes().data(), SecretKey::kBytes, secret.data(), secret.size(), padded.data(),
                         padded.size()) != 0)
    throw std::runtime_error("BLAKE2b is not available in libsodium");
  return key;
}

std::vector<std::uint8_t> Seal(const SecretKey& key, std::string_view header,
                               std::span<const std::uint8_t> secret) {
  std::vector<std::uint8_t> sealed(kNonce + secret.size() + kTag);
  FillRandom(std::span(sealed).first(kNonce));
  crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data() + kNonce, nullptr, secret.data(), secret.size(),
                                             Bytes(header), header.size(), nullptr, sealed.data(),
                                             key.bytes().data());
  return sealed;
}

std::optional<std::vector<std::uint8_t>> Unseal(const SecretKey& key, std::string_view header,
                                                std::span<const std::uint8_t> sealed) {
  if (sealed.size() < kNonce + kTag) return std::nullopt;
  std::vector<std::uint8_t> secret(sealed.size() - kNonce - kTag);
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(secret.data(), nullptr, nullptr, sealed.data() + kNonce,
                                                 sealed.size() - kNonce, Bytes(header), header.size(),
                                                 sealed.data(), key.bytes().data()) != 0)
    return std::nullopt;
  return secret;
}

void Wipe(std::span<std::uint8_t> bytes) noexcept { sodium_memzero(bytes.data(), bytes.size()); }

}  // namespace trefoil

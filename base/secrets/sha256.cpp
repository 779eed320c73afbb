#include "base/secrets/sha256.h"

#include <openssl/evp.h>
#include <sodium.h>

#include "base/secrets/check_openssl.h"

namespace trefoil {
namespace {

void CheckHash(int result) { CheckOpenSsl(result, "SHA-256 failed in OpenSSL"); }

}  // namespace

std::string ToHex(std::span<const std::uint8_t> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();  // the zero byte that libsodium writes
  return text;
}

Sha256::Sha256() : state_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  CheckHash(state_ ? EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) : 0);
}

void Sha256::Update(std::string_view bytes) {
  CheckHash(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()));
}

std::array<std::uint8_t, 32> Sha256::Digest() {
  std::array<std::uint8_t, 32> digest{};
  CheckHash(EVP_DigestFinal_ex(state_.get(), digest.data(), nullptr));
  return digest;
}

std::string Sha256::Hex() { return ToHex(Digest()); }

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

std::string Sha256Base64(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  const auto digest = hash.Digest();
  std::string text(sodium_base64_ENCODED_LEN(digest.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), digest.data(), digest.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the zero byte that libsodium writes
  return text;
}

}  // namespace trefoil

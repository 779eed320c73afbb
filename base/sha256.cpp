#include "base/sha256.h"

#include <array>

namespace trefoil {

Sha256::Sha256() { crypto_hash_sha256_init(&state_); }

void Sha256::Update(std::string_view bytes) {
  crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::Hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(&state_, digest.data());
  std::string hex(2 * digest.size() + 1, '\0');  // and the zero byte that libsodium writes
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  hex.pop_back();
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

}  // namespace trefoil

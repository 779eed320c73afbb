#include "mpc/fixed_key_aes.h"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

/// The first 16 bytes of pi's binary fraction: a key that nobody chose.
constexpr std::array<unsigned char, 16> kPi = {0x24, 0x3F, 0x6A, 0x88, 0x85, 0xA3, 0x08, 0xD3,
                                               0x13, 0x19, 0x8A, 0x2E, 0x03, 0x70, 0x73, 0x44};

CipherContext MakeContext() {
  CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!context || EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, kPi.data(), nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    throw std::runtime_error("AES-128 cannot be set up in OpenSSL");
  }
  return context;
}

}  // namespace

void FixedKeyHash(std::span<const Block> in, std::span<Block> out) {
  static_assert(sizeof(Block) == 16);
  Require(out.size() >= in.size(), "FixedKeyHash: room for every block");
  thread_local const CipherContext kContext = MakeContext();
  int written = 0;
  if (EVP_EncryptUpdate(kContext.get(), reinterpret_cast<unsigned char*>(out.data()), &written,
                        reinterpret_cast<const unsigned char*>(in.data()),
                        static_cast<int>(in.size_bytes())) != 1) {
    throw std::runtime_error("AES-128 failed in OpenSSL");
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    out[k].low ^= in[k].low;
    out[k].high ^= in[k].high;
  }
}

}  // namespace trefoil::mpc

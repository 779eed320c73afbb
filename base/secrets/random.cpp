#include "base/secrets/random.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <array>
#include <new>
#include <stdexcept>

#include "base/secrets/check_openssl.h"

namespace trefoil {
namespace {

constexpr std::array<unsigned char, 4096> kZeros{};

void CheckChaCha(int result) { CheckOpenSsl(result, "ChaCha20 failed in OpenSSL"); }

}  // namespace

void InitialiseSodium() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised");
}

void FillRandom(std::span<std::uint8_t> out) {
  InitialiseSodium();
  randombytes_buf(out.data(), out.size());
}

SecretKey RandomKey() {
  SecretKey key;
  FillRandom(key.bytes());
  return key;
}

RandomStream RandomStream::FromSystem() { return RandomStream(RandomKey()); }

RandomStream::RandomStream(const SecretKey& key)
    : cipher_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free), buffer_(kBlockWords), position_(kBlockWords) {
  if (!cipher_) throw std::bad_alloc();
  CheckChaCha(EVP_EncryptInit_ex(cipher_.get(), EVP_chacha20(), nullptr, key.bytes().data(), nullptr));
}

RandomStream::~RandomStream() { Wipe(buffer_); }

void RandomStream::Refill() {
  // The nonce counts blocks of the buffer's size, so no part of the key stream is used twice; the counter, of
  // 64 bits ahead of it, begins at zero.
  std::array<unsigned char, 16> start{};
  for (std::size_t i = 0; i < 8; ++i) start[8 + i] = static_cast<unsigned char>(next_block_ >> (8 * i));
  ++next_block_;
  int written = 0;
  CheckChaCha(EVP_EncryptInit_ex(cipher_.get(), nullptr, nullptr, nullptr, start.data()));
  CheckChaCha(EVP_EncryptUpdate(cipher_.get(), reinterpret_cast<unsigned char*>(buffer_.data()), &written,
                                kZeros.data(), static_cast<int>(kZeros.size())));
  position_ = 0;
}

}  // namespace trefoil

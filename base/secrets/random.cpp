#include "base/secrets/random.h"

#include <sodium.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace trefoil {

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

RandomStream::RandomStream(SecretKey key)
    : key_(std::move(key)), buffer_(kBlockWords), position_(kBlockWords) {}

RandomStream::~RandomStream() { Wipe(buffer_); }

std::uint64_t RandomStream::NextWord() {
  if (position_ == kBlockWords) Refill();
  return std::exchange(buffer_[position_++], 0);
}

void RandomStream::Refill() {
  // The nonce counts blocks of the buffer's size, so no part of the key stream is used twice.
  std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
  for (std::size_t i = 0; i < nonce.size(); ++i)
    nonce[i] = static_cast<unsigned char>(next_block_ >> (8 * i));
  ++next_block_;
  crypto_stream_chacha20(reinterpret_cast<unsigned char*>(buffer_.data()),
                         kBlockWords * sizeof(std::uint64_t), nonce.data(), key_.bytes().data());
  position_ = 0;
}

}  // namespace trefoil

// For a test that loads it before everything else (LD_PRELOAD). NOT SECRET: each draw from libsodium's
// generator gives the same bytes, whoever draws, when and how often, so that a job computes the same among
// threads and among processes, which draw in another order.
#include <sodium.h>

#include <array>
#include <cstdint>

namespace {

void Fill(void* const out, const std::size_t size) {
  constexpr std::array<unsigned char, crypto_stream_chacha20_KEYBYTES> kKey{7};
  constexpr std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> kNonce{};
  crypto_stream_chacha20(static_cast<unsigned char*>(out), size, kNonce.data(), kKey.data());
}

std::uint32_t Word() {
  std::uint32_t word = 0;
  Fill(&word, sizeof word);
  return word;
}

const char* Name() { return "fixed coins of a test"; }

[[gnu::constructor]] void ReplaceRandomness() {
  static randombytes_implementation fixed{};
  fixed.implementation_name = Name;
  fixed.random = Word;
  fixed.buf = Fill;
  if (randombytes_set_implementation(&fixed) != 0 || sodium_init() < 0) __builtin_trap();
}

}  // namespace

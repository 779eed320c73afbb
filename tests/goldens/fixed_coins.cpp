#include "tests/goldens/fixed_coins.h"

#include <sodium.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace trefoil::goldens {
namespace {

struct Stream {
  std::array<unsigned char, crypto_stream_chacha20_KEYBYTES> key{};
  std::uint64_t draws = 0;
  bool fixed = false;
};

thread_local Stream stream;
std::atomic<std::uint64_t> draws_of_others = 0;

void Fill(void* const out, const std::size_t size) {
  if (!stream.fixed) {
    ++draws_of_others;
    auto* bytes = static_cast<unsigned char*>(out);
    for (std::size_t done = 0; done < size;) {
      const auto some = getrandom(bytes + done, size - done, 0);
      if (some < 0) std::abort();
      done += static_cast<std::size_t>(some);
    }
    return;
  }
  std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
  static_assert(sizeof(stream.draws) == crypto_stream_chacha20_NONCEBYTES);
  std::memcpy(nonce.data(), &stream.draws, sizeof stream.draws);
  ++stream.draws;
  crypto_stream_chacha20(static_cast<unsigned char*>(out), size, nonce.data(), stream.key.data());
}

std::uint32_t Word() {
  std::uint32_t word = 0;
  Fill(&word, sizeof word);
  return word;
}

const char* Name() { return "fixed coins of a test"; }

}  // namespace

void ReplaceSystemRandomness() {
  static randombytes_implementation fixed{};
  fixed.implementation_name = Name;
  fixed.random = Word;
  fixed.buf = Fill;
  if (randombytes_set_implementation(&fixed) != 0 || sodium_init() < 0)
    throw ContractError("fixed coins: libsodium cannot be initialised");
}

FixedCoins::FixedCoins(std::string_view label, int party) {
  Require(!stream.fixed, "FixedCoins: one at a time in a thread");
  const auto text = std::string(label) + "/" + std::to_string(party);
  crypto_hash_sha256(stream.key.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  stream.draws = 0;
  stream.fixed = true;
}

FixedCoins::~FixedCoins() { stream.fixed = false; }

std::uint64_t TakeDrawsOfOthers() { return draws_of_others.exchange(0); }

}  // namespace trefoil::goldens

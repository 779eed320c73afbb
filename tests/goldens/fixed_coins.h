#pragma once
#include <cstdint>
#include <string_view>

namespace trefoil::goldens {

/// Makes this process draw by FixedCoins where there are any. To be called before anything draws; for a test
/// program of its own, since it holds for the process: libsodium's generator is replaced, and the product is
/// as it is.
void ReplaceSystemRandomness();

/// NOT SECRET: while it lives, what this thread draws from the operating system's generator is a stream of
/// ChaCha20 under a fixed key, a new one for each label and party, so that a run repeats exactly.
class FixedCoins {
 public:
  FixedCoins(std::string_view label, int party);
  ~FixedCoins();
  FixedCoins(const FixedCoins&) = delete;
  FixedCoins& operator=(const FixedCoins&) = delete;
};

/// How often a thread without FixedCoins has drawn since the last call: what a run draws there does not
/// repeat.
[[nodiscard]] std::uint64_t TakeDrawsOfOthers();

}  // namespace trefoil::goldens

#pragma once
#include "base/random.h"

namespace trefoil::dp {

/// A reproducible stream for statistical tests.
inline RandomStream FixedStream(std::uint8_t seed) {
  SecretKey key;
  for (auto& byte : key.bytes()) byte = seed;
  return RandomStream(std::move(key));
}

}  // namespace trefoil::dp

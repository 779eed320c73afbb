#pragma once
#include <cstdint>

#include "base/secrets/secure_memory.h"

namespace trefoil::testing_support {

/// NOT SECRET: one byte, 32 times, so that a test repeats exactly.
inline SecretKey FixedKey(std::uint8_t fill) {
  SecretKey key;
  for (auto& byte : key.bytes()) byte = fill;
  return key;
}

}  // namespace trefoil::testing_support

#pragma once
#include "base/secrets/random.h"
#include "tests/support/fixed_key.h"

namespace trefoil::dp {

/// A reproducible stream for statistical tests.
inline RandomStream FixedStream(std::uint8_t seed) { return RandomStream(testing_support::FixedKey(seed)); }

}  // namespace trefoil::dp

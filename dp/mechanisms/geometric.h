#pragma once
#include <cstdint>

#include "base/secrets/random.h"
#include "dp/mechanisms/bernoulli.h"

namespace trefoil::dp {

/// A positive number as a quotient of integers.
struct Ratio {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;

  [[nodiscard]] double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// The largest multiple of 2^-32 that is not above an epsilon: the one that a sampler can use, charged as it
/// is. Throws ConfigError naming `name` unless epsilon is in [2^-20, 1024].
[[nodiscard]] Ratio EpsilonBelow(double epsilon, const char* name = "epsilon");

/// The geometric distribution, exactly: P[k] = (1 - r) r^k for k = 0, 1, ..., r = exp(-rate). Integer
/// arithmetic only between the random words and the sample. Not constant-time.
///
/// Pre:    both parts of the rate positive; below 2^127 but for a probability below exp(-2^60).
/// Source: Canonne, Kamath, Steinke (2020), Algorithm 2, lines 1 to 12.
[[nodiscard]] Uint128 SampleGeometric(RandomStream& stream, const Ratio& rate);

}  // namespace trefoil::dp

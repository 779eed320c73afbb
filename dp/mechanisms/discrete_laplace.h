#pragma once
#include <cstdint>

#include "base/secrets/random.h"
#include "dp/mechanisms/bernoulli.h"

namespace trefoil::dp {

using Int128 = __int128;

/// The discrete Laplace distribution of scale numerator / denominator, exactly:
/// P[x] proportional to exp(-|x| * denominator / numerator), x any integer.
/// Source: Canonne, Kamath, Steinke (2020), Algorithm 2.
class DiscreteLaplace {
 public:
  /// Throws ConfigError unless both are positive.
  explicit DiscreteLaplace(std::uint64_t numerator, std::uint64_t denominator = 1);

  /// Not constant-time: the time depends on the sample's size.
  Int128 Sample(RandomStream& stream) const;

 private:
  std::uint64_t numerator_;
  std::uint64_t denominator_;
};

}  // namespace trefoil::dp

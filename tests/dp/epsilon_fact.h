#pragma once
#include <cstdint>

namespace trefoil::dp {

/// An epsilon that others have published, of `steps` steps with Gaussian noise.
struct EpsilonFact {
  const char* name;
  double q, sigma;
  std::int64_t steps;
  double delta, epsilon;
};

}  // namespace trefoil::dp

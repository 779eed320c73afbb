#pragma once
#include <cmath>

#include "base/error.h"

namespace trefoil {

/// The least n with x <= 2^n, exactly: std::log2 rounds numbers just above a power of two down to it.
/// Pre: x is positive and finite.
[[nodiscard]] inline int CeilLog2(double x) {
  Require(x > 0 && std::isfinite(x), "CeilLog2: a positive, finite number");
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // x = fraction 2^exponent, fraction in [1/2, 1)
  return fraction == 0.5 ? exponent - 1 : exponent;
}

}  // namespace trefoil

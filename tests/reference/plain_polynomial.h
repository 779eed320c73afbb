#pragma once
#include <algorithm>
#include <cstdint>

#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::reference {

/// The piece that x lies in by Horner's rule in plain integers, every truncation rounded down: what the
/// protocol must give bit for bit with exact rounding. Pre: nothing reaches 2^62.
inline std::int64_t EvaluateRoundingDown(const protocols::PiecewisePolynomial& f, std::int64_t x) {
  const auto below = std::upper_bound(f.thresholds.begin(), f.thresholds.end(), x);
  const auto piece = static_cast<std::size_t>(below - f.thresholds.begin());
  const auto& a = f.coefficients[piece];
  if (!f.origins.empty()) x -= f.origins[piece];
  std::int64_t y = a.back();
  if (a.size() == 1) return y;
  for (std::size_t term = a.size() - 2; term > 0; --term) y = ((y * x) >> f.input_bits) + a[term];
  return (y * x + (a[0] << f.input_bits)) >> f.last_shift;
}

}  // namespace trefoil::reference

#include "dp/analytic_gaussian.h"

#include <cmath>

#include "dp/domain.h"

namespace trefoil::dp {
namespace {

/// log P[N(0, 1) > x], also where the probability is below what a double holds.
double LogNormalTail(double x) {
  if (x < 30) return std::log(std::erfc(x / std::sqrt(2.0)) / 2);
  const double square = x * x;
  return -square / 2 - std::log(x * std::sqrt(2 * std::acos(-1.0))) + std::log1p(-1 / square);
}

/// delta(epsilon) = P[N > epsilon sigma - 1 / (2 sigma)] - e^epsilon P[N > epsilon sigma + 1 / (2 sigma)].
double DeltaAt(double sigma, double epsilon) {
  const double first = LogNormalTail(epsilon * sigma - 0.5 / sigma);
  const double second = epsilon + LogNormalTail(epsilon * sigma + 0.5 / sigma);
  return std::exp(first) * -std::expm1(second - first);
}

}  // namespace

double AnalyticGaussianEpsilon(double noise_multiplier, double delta) {
  CheckDelta(delta);
  CheckParameter(noise_multiplier > 0 && std::isfinite(noise_multiplier), "noise multiplier",
                 noise_multiplier, "a finite number above 0");
  if (DeltaAt(noise_multiplier, 0) <= delta) return 0;
  double low = 0;
  double high = 1;
  while (DeltaAt(noise_multiplier, high) > delta) {
    low = high;
    high *= 2;
  }
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (DeltaAt(noise_multiplier, middle) > delta ? low : high) = middle;
  }
  return high;
}

}  // namespace trefoil::dp

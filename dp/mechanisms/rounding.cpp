#include "dp/mechanisms/rounding.h"

#include <cmath>

#include "dp/accounting/infinity.h"

namespace trefoil::dp {
namespace {}  // namespace

double Above(double value) { return value > 0 ? std::nextafter(value, kInfinity) : value; }

double SumAbove(double sum, double count, double each) {
  const double product = count * each;
  const double rounded = sum + product;
  if (!std::isfinite(rounded)) return rounded;
  // Below it fma cannot say what the product's rounding lost.
  constexpr double kMinProduct = 0x1p-960;
  if (product < kMinProduct)
    return count > 0 && each > 0 ? Above(sum + std::nextafter(product, kInfinity)) : rounded;
  // What the two roundings lost, exactly: Knuth's sum of two, and Dekker's product by fused multiply-add.
  const double part = rounded - sum;
  const double lost = (sum - (rounded - part)) + (product - part) + std::fma(count, each, -product);
  return lost > 0 ? std::nextafter(rounded, kInfinity) : rounded;
}

double QuotientAbove(double numerator, double denominator) {
  const double rounded = numerator / denominator;
  // What the rounding left over, exactly but where it is lost below the least doubles.
  const double left = std::fma(-rounded, denominator, numerator);
  constexpr double kMinNumerator = 0x1p-900;
  return left > 0 || numerator < kMinNumerator ? std::nextafter(rounded, kInfinity) : rounded;
}

double DeltaWithin(double delta, double divergence) {
  return divergence > 0 ? delta * std::exp(-divergence) * (1 - kClosedFormError) : delta;
}

}  // namespace trefoil::dp

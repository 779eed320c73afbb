#include "dp/accounting/analytic_gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "dp/accounting/infinity.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kPi = 3.14159265358979323846;
/// What bounds the relative error of a delta, times (1 + high) (1 + max(low, 0))
/// (docs/explanation/privacy.md, "Accounting").
constexpr double kDeltaError = 0x1p-44;

double Density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * kPi); }

/// R(x) = P[N(0, 1) > x] / density(x), and -R'(x) = 1 - x R(x), which is positive and falls, too.
struct MillsRatio {
  double value = 0;
  double fall = 0;
};

/// Pre: x not below -1/16.
MillsRatio MillsRatioAt(double x) {
  constexpr double kFractionFrom = 3;
  constexpr int kLevels = 100;
  if (x < kFractionFrom) {
    const double value = std::sqrt(kPi / 2) * std::exp(x * x / 2) * std::erfc(x / std::sqrt(2.0));
    return {value, 1 - x * value};
  }
  // Laplace: R = 1 / (x + K) with K = 1 / (x + 2 / (x + 3 / (x + ...))), so that 1 - x R = K / (x + K).
  double rest = 0;
  for (int k = kLevels; k >= 1; --k) rest = k / (x + rest);
  return {1 / (x + rest), rest / (x + rest)};
}

/// The mean of -R' from `low` to `high`, by Gauss and Legendre's rule of 5 nodes. Pre: at most 1/8 apart.
double MeanFall(double low, double high) {
  constexpr std::array<std::pair<double, double>, 5> kNodes{{{0.0, 0.5688888888888889},
                                                             {-0.5384693101056831, 0.4786286704993665},
                                                             {0.5384693101056831, 0.4786286704993665},
                                                             {-0.9061798459386640, 0.2369268850561891},
                                                             {0.9061798459386640, 0.2369268850561891}}};
  double sum = 0;
  for (const auto& [place, weight] : kNodes)
    sum += weight / 2 * MillsRatioAt((low + high) / 2 + place * (high - low) / 2).fall;
  return sum;
}

enum class Rounded { kUp, kDown };

/// delta(epsilon) = P[N > low] - e^epsilon P[N > high], low and high = epsilon sigma -+ 1 / (2 sigma), which
/// is density(low) (R(low) - R(high)): not below it, or not above it.
double DeltaAt(double sigma, double epsilon, Rounded rounded) {
  constexpr double kNarrow = 0.125;
  constexpr double kFarthest = 40;  // P[N > 40] is below the smallest double
  const double width = 1 / sigma;
  const double low = epsilon * sigma - width / 2;
  const double high = epsilon * sigma + width / 2;
  if (!(low < kFarthest)) return rounded == Rounded::kUp ? kSmallest : 0;
  double delta = 0;
  if (width < kNarrow) {
    delta = Density(low) * width * MeanFall(low, high);
  } else {
    const double tail =
        low < 3 ? std::erfc(low / std::sqrt(2.0)) / 2 : Density(low) * MillsRatioAt(low).value;
    delta = tail - Density(low) * MillsRatioAt(high).value;
  }
  const double lost = kDeltaError * (1 + high) * (1 + std::max(low, 0.0));
  return rounded == Rounded::kUp ? delta * (1 + lost) + kSmallest : delta * (1 - lost) - kSmallest;
}

/// Where DeltaAt() falls to `delta`: it is above it at the first epsilon, unless that is 0, and not at the
/// other.
std::pair<double, double> Crossing(double sigma, double delta, Rounded rounded) {
  CheckDelta(delta);
  CheckParameter(sigma > 0 && std::isfinite(sigma), "noise multiplier", sigma, "a finite number above 0");
  const auto exceeds = [&](double epsilon) { return !(DeltaAt(sigma, epsilon, rounded) <= delta); };
  if (!exceeds(0)) return {0, 0};
  double low = 0;
  double high = 1;
  while (exceeds(high)) {
    low = high;
    high *= 2;
    if (std::isinf(high)) return {low, high};
  }
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (exceeds(middle) ? low : high) = middle;
  }
  return {low, high};
}

}  // namespace

double AnalyticGaussianEpsilon(double noise_multiplier, double delta) {
  return Crossing(noise_multiplier, delta, Rounded::kUp).second;
}

double AnalyticGaussianEpsilonBelow(double noise_multiplier, double delta) {
  return Crossing(noise_multiplier, delta, Rounded::kDown).first;
}

}  // namespace trefoil::dp

#include "dp/accounting/privacy_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <variant>

#include "dp/losses/pld_accountant.h"

namespace trefoil::dp {
namespace {

constexpr double kMinDelta = 1e-12;
constexpr double kLargestDelta = 1 - 1e-9;
/// What is rounded outwards, relatively: far above the rounding errors of a few operations.
constexpr double kRounding = 1e-12;

/// Epsilons at many deltas, on a few grids.
class EpsilonAt {
 public:
  explicit EpsilonAt(const PldAccountant& accountant) : accountant_(accountant) {}

  double operator()(double delta) {
    // Each grid serves about three powers of ten.
    const double design = delta > 1e-2 ? 0.1 : delta > 1e-5 ? 3e-4 : delta > 1e-8 ? 3e-7 : 3e-10;
    const auto found = grids_.find(design);
    const auto& grid =
        (found != grids_.end() ? found : grids_.emplace(design, accountant_.Distributions(design)).first)
            ->second;
    return accountant_.Epsilon(delta, grid).epsilon;
  }

 private:
  const PldAccountant& accountant_;
  std::map<double, std::optional<Pld>> grids_;
};

/// The least delta, to a part in a million, at which epsilon is 0: the total variation; 1 where there is
/// none.
double TotalVariationOf(EpsilonAt& epsilon_at) {
  if (epsilon_at(kLargestDelta) > 0) return 1;
  double low = kMinDelta;
  double high = kLargestDelta;
  if (epsilon_at(low) == 0) return low;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (epsilon_at(middle) > 0 ? low : high) = middle;
  }
  return high;
}

/// Near the largest one, between it and 0, and near 0.
std::vector<double> DeltasBelow(double largest) {
  constexpr int kLinear = 50;
  constexpr int kInADecade = 6;
  constexpr int kNearLargest = 4 * kInADecade;
  std::vector<double> deltas{largest};
  for (int i = kNearLargest; i >= 1; --i)
    deltas.push_back(largest * (1 - std::pow(10, -static_cast<double>(i) / kInADecade) / kLinear));
  for (int i = kLinear - 1; i >= 1; --i) deltas.push_back(largest * i / kLinear);
  for (int i = 1; deltas.back() > kMinDelta; ++i)
    deltas.push_back(largest / kLinear * std::pow(10, -static_cast<double>(i) / kInADecade));
  return deltas;
}

/// The epsilon that holds with delta 0, where all is pure; else nothing.
std::optional<double> PureEpsilon(const std::vector<Event>& events) {
  double sum = 0;
  for (const auto& event : events) {
    if (const auto* pure = std::get_if<PureDp>(&event)) {
      sum += pure->count == 0 ? 0 : static_cast<double>(pure->count) * pure->epsilon;
    } else if (const auto* laplace = std::get_if<Laplace>(&event)) {
      sum += laplace->count == 0 ? 0 : static_cast<double>(laplace->count) / laplace->scale;
    } else if (const auto* parts = std::get_if<ThreeLaplaceParts>(&event)) {
      sum += parts->count == 0 ? 0 : static_cast<double>(parts->count) * parts->rate;
    } else {
      return {};
    }
  }
  return sum;
}

/// Whether b lies on or above the chord from a to c, of delta over e^epsilon.
bool IsOnOrAboveChord(const CurvePoint& a, const CurvePoint& b, const CurvePoint& c) {
  const double low = std::exp(a.epsilon - c.epsilon);
  const double middle = std::exp(b.epsilon - c.epsilon);
  return (a.delta - b.delta) * (1 - middle) <= (b.delta - c.delta) * (middle - low);
}

/// delta(epsilon) is convex in e^epsilon, so that a point above the chord of two others says nothing new.
std::vector<CurvePoint> LowerHull(const std::vector<CurvePoint>& points) {
  std::vector<CurvePoint> hull;
  for (const auto& point : points) {
    if (!hull.empty() && !(point.epsilon > hull.back().epsilon)) {
      if (!(point.delta < hull.back().delta)) continue;
      hull.pop_back();
    }
    while (hull.size() >= 2 && IsOnOrAboveChord(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

double Beta(const std::vector<CurvePoint>& points, double alpha) {
  double beta = 0;
  for (const auto& [epsilon, delta] : points) {
    beta = std::max(beta, 1 - delta - std::exp(epsilon) * alpha);
    beta = std::max(beta, std::exp(-epsilon) * (1 - delta - alpha));
  }
  return std::max(0.0, beta - kRounding * (1 + beta));
}

std::vector<double> Alphas() {
  std::vector<double> alphas{0};
  for (const double decade : {1e-6, 1e-5, 1e-4, 1e-3})
    for (const double digit : {1.0, 2.0, 5.0}) alphas.push_back(digit * decade);
  for (int i = 1; i <= 100; ++i) alphas.push_back(i / 100.0);
  return alphas;
}

}  // namespace

PrivacyCurve CurveOf(const std::vector<Event>& events) {
  PldAccountant accountant;
  for (const auto& event : events) accountant.Add(event);
  EpsilonAt epsilon_at(accountant);
  PrivacyCurve curve;
  std::vector<CurvePoint> points;
  for (const double delta : DeltasBelow(TotalVariationOf(epsilon_at))) {
    if (!(delta < 1)) continue;
    const double epsilon = epsilon_at(delta);
    if (std::isfinite(epsilon)) points.push_back({epsilon * (1 + kRounding), delta * (1 + kRounding)});
  }
  const auto pure = PureEpsilon(events);
  if (pure && std::isfinite(*pure)) points.push_back({*pure * (1 + kRounding), 0});
  std::sort(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.epsilon < b.epsilon || (a.epsilon == b.epsilon && a.delta > b.delta);
  });
  curve.points = LowerHull(points);
  curve.mu = accountant.Mu();
  for (const double alpha : Alphas()) curve.tradeoff.push_back({alpha, Beta(curve.points, alpha)});
  return curve;
}

}  // namespace trefoil::dp

#pragma once
#include <optional>
#include <vector>

#include "dp/record/event.h"

namespace trefoil::dp {

/// A pair that holds: (epsilon, delta)-differential privacy.
struct CurvePoint {
  double epsilon = 0;
  double delta = 0;
};

/// Of every test between two neighbours with false alarms of probability alpha, at least beta goes
/// undetected.
struct TradeOffPoint {
  double alpha = 0;
  double beta = 0;
};

/// The whole promise of a composition, of which one (epsilon, delta) is a point.
struct PrivacyCurve {
  std::vector<CurvePoint> points;       ///< epsilon rises from 0, delta falls, convex in e^epsilon
  std::optional<double> mu;             ///< of Gaussian differential privacy, where PldAccountant knows it
  std::vector<TradeOffPoint> tradeoff;  ///< alpha from 0 to 1; beta falls, convex
};

/// The curve of these events, by loss distributions (PldAccountant), for neighbours by adding and by
/// removing, the worse counting. About a hundred points with delta from the total variation down to 1e-12,
/// and that with delta 0 where all is pure; without a guarantee there are none, and beta is 0. beta follows
/// from the points, each of which says
///   beta >= max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
/// Everything is rounded outwards: epsilon, delta and mu up, beta down.
/// Error:  for plain Gaussians beta is within 0.002 of the exact curve.
/// Cost:   a second for sampled Gaussians.
/// Source: Wasserman, Zhou (2010); Dong, Roth, Su, "Gaussian differential privacy" (2022), Proposition 2.12.
[[nodiscard]] PrivacyCurve CurveOf(const std::vector<Event>& events);

}  // namespace trefoil::dp

#pragma once

namespace trefoil::dp {

/// The exact epsilon at `delta` of one release of a sum of sensitivity 1 with normal noise of deviation
/// `noise_multiplier` s, rounded up. (Several of multipliers s_i are one of 1 / sqrt(sum 1 / s_i^2).) It is
/// the exact one, within 1e-12, at a delta that is less by a part of 2^-43 (1 + b) (1 + max(a, 0)) at most, a
/// and b being epsilon s -+ 1 / (2 s). Infinity below deltas of 1e-307.
/// Throws: ConfigError unless noise_multiplier is above 0 and finite, delta in (0, 1).
/// Source: Balle and Wang, "Improving the Gaussian mechanism for differential privacy" (2018), Theorem 8, in
///         the form of docs/explanation/privacy.md, "Accounting", in which nothing cancels.
[[nodiscard]] double AnalyticGaussianEpsilon(double noise_multiplier, double delta);

/// The same rounded down, at a delta that is more by as much.
[[nodiscard]] double AnalyticGaussianEpsilonBelow(double noise_multiplier, double delta);

}  // namespace trefoil::dp

#pragma once

namespace trefoil::dp {

/// The exact epsilon at `delta` of one release of a sum of sensitivity 1 with normal noise of deviation
/// `noise_multiplier`, rounded up by 1e-12 relatively at most. (Several of multipliers s_i are one of 1 /
/// sqrt(sum 1 / s_i^2).)
/// Throws: ConfigError unless noise_multiplier is above 0 and finite, delta in (0, 1).
/// Source: Balle and Wang, "Improving the Gaussian mechanism for differential privacy" (2018), Theorem 8.
[[nodiscard]] double AnalyticGaussianEpsilon(double noise_multiplier, double delta);

}  // namespace trefoil::dp

#pragma once
#include <span>
#include <vector>

#include "dp/accounting/guarantee.h"

namespace trefoil::dp {

/// Renyi differential privacy (RDP) of one release of the Poisson-sampled Gaussian: every record is taken
/// with probability `sampling_rate`, a sum of sensitivity 1 gets normal noise of deviation
/// `noise_multiplier`; neighbours differ by one record added or removed. In nats.
///
/// Value:  relative error below 1e-8 for noise multipliers from kExactFrom on; below it the RDP without
/// sampling,
///         which is an upper bound; infinity without noise. Fractional orders above 1000 are rounded up (RDP
///         grows with the order). Never below the true value by more than that error.
/// Method: log(1 + S) / (order - 1). S = E[h(u)] over the noise, h(u) = (1 + u)^order - 1 - order u,
///         u = q (exp(t) - 1), E[u] = 0. h is convex with h(0) = h'(0) = 0, so that no term of the integer
///         sum and no point of the integral is negative. The signed binomial series at fractional orders is
///         the same number, but loses all its digits where q / noise_multiplier is small, and converges
///         slowly near order 1; it is the tests' second opinion.
/// Throws: ConfigError unless sampling_rate is in [0, 1], noise_multiplier in [0, infinity), order in (1,
/// 100000]. Source: Mironov, Talwar, Zhang, "Renyi differential privacy of the sampled Gaussian mechanism"
/// (2019), section 3.
[[nodiscard]] double SampledGaussianRdp(double sampling_rate, double noise_multiplier, double order);

inline constexpr double kExactFrom = 0.03;
/// The relative error of SampledGaussianRdp below rate 1, at most.
inline constexpr double kSampledGaussianRdpError = 1e-8;

/// RDP of one release of a number of sensitivity 1 with Laplace noise of this scale: with e = 1 / scale,
///   log(order / (2 order - 1) exp((order - 1) e) + (order - 1) / (2 order - 1) exp(-order e)) / (order - 1),
/// and never above PureDpRdp(e); that alone for scales from 10^4 on, where the two agree to 10^-8. Infinity
/// for scale 0. Pre: order above 1, scale not below 0. Source: Mironov, "Renyi differential privacy" (2017),
/// table II.
[[nodiscard]] double LaplaceRdp(double scale, double order);

/// RDP of an (epsilon, 0)-differentially private release, at most: that of randomised response,
///   log(cosh((order - 1/2) epsilon) / cosh(epsilon / 2)) / (order - 1),
/// which every such release is a post-processing of (Kairouz, Oh, Viswanath 2015), and so never above
/// min(order epsilon^2 / 2, epsilon). Pre: order above 1, epsilon not below 0.
[[nodiscard]] double PureDpRdp(double epsilon, double order);

/// RDP of an integer that moves by 1 under noise of three parts of discrete Laplace noise: that of the choice
/// between randomised responses of ThreePartsResponses(). Never above PureDpRdp(rate). One value an order,
/// which are above 1. Cost: some 50 / rate steps an order.
[[nodiscard]] std::vector<double> ThreeLaplacePartsRdp(double rate, std::span<const double> orders);

/// 1.1 to 10.9 in steps of 0.1, 12 to 63, and some larger ones, which small epsilons need.
[[nodiscard]] std::vector<double> DefaultRdpOrders();

/// How a curve is converted: by Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy"
/// (2020), Proposition 12, or by Mironov (2017), Proposition 3, which gives more and is what older papers and
/// programs report.
enum class RdpConversion { kImproved, kBasic };

/// The smallest epsilon at `delta` that the curve (orders[i], rdp[i]) gives.
///
/// Pre:    equal, positive lengths; orders above 1; no NaN and nothing negative in rdp (ContractError).
/// Throws: ConfigError unless delta is in (0, 1).
/// Source: that of the conversion; and Bretagnolle-Huber, total variation <= sqrt(1 - exp(-RDP)), which gives
///         epsilon 0 where that is below delta.
[[nodiscard]] Guarantee RdpToEpsilon(std::span<const double> orders, std::span<const double> rdp,
                                     double delta, RdpConversion conversion = RdpConversion::kImproved);

}  // namespace trefoil::dp

#include "dp/accounting/rdp.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dp/accounting/infinity.h"
#include "dp/laws/laplace_parts_law.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kLargestFractionalOrder = 1000;
/// A sum of positive terms, each given by its logarithm.
class LogSum {
 public:
  void Add(double log_term) {
    if (log_term <= largest_) {
      if (log_term > -kInfinity) scaled_ += std::exp(log_term - largest_);
      return;
    }
    scaled_ = scaled_ * std::exp(largest_ - log_term) + 1;
    largest_ = log_term;
  }
  [[nodiscard]] double Log() const { return largest_ + std::log(scaled_); }

 private:
  double largest_ = -kInfinity;
  double scaled_ = 0;
};

/// log(exp(x) - 1) for x > 0.
double LogExpMinusOne(double x) { return x > 1 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x)); }

/// log(1 + exp(x)).
double LogOnePlusExp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// log sinh(x) for x > 0.
double LogSinh(double x) {
  return x > 1 ? x - std::log(2.0) + std::log1p(-std::exp(-2 * x)) : std::log(std::sinh(x));
}

/// log(exp((order - 1) RDP) - 1) of randomised response: cosh(a) - cosh(b) = 2 sinh((a + b) / 2) sinh((a - b)
/// / 2), so that nothing cancels.
double LogExcessOfResponse(double epsilon, double order) {
  const double log_cosh = epsilon / 2 + std::log1p(std::exp(-epsilon)) - std::log(2.0);
  return std::log(2.0) + LogSinh(order * epsilon / 2) + LogSinh((order - 1) * epsilon / 2) - log_cosh;
}

/// log S at an integer order: the terms k = 0 and 1 of the binomial sum cancel against 1 + order E[u].
double LogExcessInteger(double q, double sigma, int order) {
  LogSum sum;
  double log_binomial = std::log(static_cast<double>(order));
  for (int k = 2; k <= order; ++k) {
    log_binomial += std::log(static_cast<double>(order - k + 1) / k);
    const double exponent = (k / sigma) * ((k - 1) / sigma) / 2;
    sum.Add(log_binomial + (order - k) * std::log1p(-q) + k * std::log(q) + LogExpMinusOne(exponent));
  }
  return sum.Log();
}

/// log h(u) by the binomial series, for order * |u| <= 1/2.
double LogConvexPartSeries(double u, double order) {
  double coefficient = order * (order - 1) / 2;
  double power = 1;
  double sum = 0;
  for (int k = 2; k <= 24; ++k) {
    sum += coefficient * power;
    coefficient *= (order - k) / (k + 1);
    power *= u;
  }
  return 2 * std::log(std::abs(u)) + std::log(sum);
}

/// log h(u), u = q (exp(t) - 1); nowhere a difference of nearly equal numbers, and no overflow.
double LogConvexPart(double q, double t, double order) {
  const double log_u = std::log(q) + t;  // of u + q, to be exact
  const bool huge = log_u > 30;
  const double u = huge ? kInfinity : t > 40 ? std::exp(log_u) - q : q * std::expm1(t);
  if (order * std::abs(u) <= 0.5) return LogConvexPartSeries(u, order);

  // h = (1 + u) (exp(b) - 1 - (order - 1) u / (1 + u)), in logarithms where it may be large.
  const double log_ratio = huge ? log_u + std::log1p((1 - q) * std::exp(-log_u)) : std::log1p(u);
  const double b = (order - 1) * log_ratio;
  if (u <= 1) return std::log((1 + u) * std::expm1(b) - (order - 1) * u);
  return log_ratio + LogExpMinusOne(b) + std::log1p((order - 1) * std::expm1(-log_ratio) / std::expm1(b));
}

/// log S at any order: the trapezoidal rule in z, noise / sigma. It converges geometrically, because the
/// integrand is analytic in the strip |Im z| < pi sigma; the error at this step is below exp(-2 pi^2 * 3),
/// relative.
double LogExcessIntegral(double q, double sigma, double order) {
  constexpr double kTail = 12;  // beyond it a normal density is below exp(-72) of its peak
  const double step = std::min(0.25, sigma / 3);
  const double end = order / sigma + kTail;
  LogSum sum;
  for (double index = std::floor(-kTail / step); index * step <= end; ++index) {
    const double z = index * step;
    sum.Add(LogConvexPart(q, (z - 0.5 / sigma) / sigma, order) - z * z / 2);
  }
  return sum.Log() + std::log(step / std::sqrt(2 * std::acos(-1.0)));
}

/// 0 where the total variation is already below delta.
double EpsilonAtOrder(double order, double rdp, double delta, RdpConversion conversion) {
  if (rdp <= -std::log1p(-delta * delta)) return 0;
  // Rounded up: by more than what a few operations on terms of this size lose.
  const double size = rdp + 2 - (std::log(delta) - std::log(order)) / (order - 1);
  const double lost = kClosedFormError * size;
  if (conversion == RdpConversion::kBasic) return rdp - std::log(delta) / (order - 1) + lost;
  const double epsilon = rdp + std::log1p(-1 / order) - (std::log(delta) + std::log(order)) / (order - 1);
  return std::max(epsilon + lost, 0.0);
}

}  // namespace

double SampledGaussianRdp(double sampling_rate, double noise_multiplier, double order) {
  CheckSamplingRate(sampling_rate);
  CheckNoiseMultiplier(noise_multiplier);
  CheckParameter(order > 1 && order <= 100000, "RDP order", order, "a number above 1, at most 100000");
  if (sampling_rate == 0) return 0;
  if (order > kLargestFractionalOrder) order = std::ceil(order);
  if (noise_multiplier == 0) return kInfinity;
  if (sampling_rate == 1 || noise_multiplier < kExactFrom)
    return order / noise_multiplier / noise_multiplier / 2;
  const double log_excess = order == std::floor(order)
                                ? LogExcessInteger(sampling_rate, noise_multiplier, static_cast<int>(order))
                                : LogExcessIntegral(sampling_rate, noise_multiplier, order);
  return LogOnePlusExp(log_excess) / (order - 1);
}

double PureDpRdp(double epsilon, double order) {
  if (!std::isfinite(epsilon)) return kInfinity;
  if (epsilon == 0) return 0;
  return std::min({epsilon, order * epsilon * epsilon / 2,
                   LogOnePlusExp(LogExcessOfResponse(epsilon, order)) / (order - 1)});
}

std::vector<double> ThreeLaplacePartsRdp(double rate, std::span<const double> orders) {
  const auto responses = ThreePartsResponses(rate);
  std::vector<double> rdp;
  for (const double order : orders) {
    LogSum excess;
    for (const auto& [epsilon, weight] : responses)
      excess.Add(std::log(weight) + LogExcessOfResponse(epsilon, order));
    rdp.push_back(std::min(LogOnePlusExp(excess.Log()) / (order - 1), PureDpRdp(rate, order)));
  }
  return rdp;
}

double LaplaceRdp(double scale, double order) {
  constexpr double kLargestScale = 1e4;  // beyond it the terms cancel to too few digits
  if (scale == 0) return kInfinity;
  const double epsilon = 1 / scale;
  const double pure = PureDpRdp(epsilon, order);
  if (scale > kLargestScale) return pure;
  // exp((order - 1) epsilon) is taken out, so that nothing overflows.
  const double rest = (order - 1) / (2 * order - 1) * std::expm1(-(2 * order - 1) * epsilon);
  return std::clamp(epsilon + std::log1p(rest) / (order - 1), 0.0, pure);
}

std::vector<double> DefaultRdpOrders() {
  std::vector<double> orders;
  for (int tenths = 11; tenths <= 109; ++tenths) orders.push_back(tenths / 10.0);
  for (int order = 12; order <= 63; ++order) orders.push_back(order);
  for (const int order : {72, 80, 96, 128, 192, 256, 384, 512, 1024}) orders.push_back(order);
  return orders;
}

Guarantee RdpToEpsilon(std::span<const double> orders, std::span<const double> rdp, double delta,
                       RdpConversion conversion) {
  Require(!orders.empty() && orders.size() == rdp.size(), "RdpToEpsilon: one RDP value per order");
  CheckDelta(delta);
  Guarantee best{.epsilon = kInfinity};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    Require(orders[i] > 1 && rdp[i] >= 0, "RdpToEpsilon: an order above 1 and an RDP value not below 0");
    const double epsilon = EpsilonAtOrder(orders[i], rdp[i], delta, conversion);
    if (epsilon < best.epsilon) best = {.epsilon = epsilon, .order = orders[i]};
  }
  return best;
}

}  // namespace trefoil::dp

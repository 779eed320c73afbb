#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "dp/rdp.h"

namespace trefoil::dp {

/// What was released, as accountants understand it: immutable values, composed in any order.

/// `count` releases of a sum of sensitivity 1 with normal noise of deviation `noise_multiplier`, each record
/// taken with probability `sampling_rate`. Rate 1 is the plain Gaussian.
struct SampledGaussian {
  double sampling_rate = 0;
  double noise_multiplier = 0;
  std::int64_t count = 0;
};

/// `count` releases whose noise has a density within a factor exp(+-bound) of the one that the other events
/// describe.
struct MaxDivergence {
  double bound = 0;
  std::int64_t count = 0;
};

/// `count` releases that are within total variation `distance` of what the other events describe.
struct TotalVariation {
  double distance = 0;
  std::int64_t count = 0;
};

using Event = std::variant<SampledGaussian, MaxDivergence, TotalVariation>;

/// Composes unlike events by adding their RDP curves.
///
/// SampledGaussian: SampledGaussianRdp. MaxDivergence: (2 order - 1) / (order - 1) * bound, from putting
/// exp(+-bound) under the integral of both densities. TotalVariation: costs delta (1 + exp(epsilon)) *
/// distance, taken off before the curve is converted. The curve of a (rate, multiplier) pair is computed
/// once, so that adding step by step is cheap.
class RdpAccountant {
 public:
  /// Pre: every order above 1 (else ConfigError when an event is added).
  explicit RdpAccountant(std::vector<double> orders = DefaultRdpOrders());

  /// Throws ConfigError for a parameter outside its domain, or a negative count.
  void Add(const Event& event);
  void Add(const std::vector<Event>& events);

  /// The smallest epsilon at `delta` in (0, 1), and its order; zero if nothing was added; infinity where
  /// there is no guarantee.
  [[nodiscard]] RdpGuarantee Epsilon(double delta) const;

  [[nodiscard]] const std::vector<double>& orders() const { return orders_; }
  /// The composed curve, one value per order.
  [[nodiscard]] const std::vector<double>& rdp() const { return rdp_; }

 private:
  void AddOne(const SampledGaussian& event);
  void AddOne(const MaxDivergence& event);
  void AddOne(const TotalVariation& event);

  std::vector<double> orders_;
  std::vector<double> rdp_;
  double distance_ = 0;
  std::map<std::pair<double, double>, std::vector<double>> curves_;
};

/// The seed's closed form for `steps` Gaussian releases without amplification by sampling:
/// epsilon = 2 sqrt(steps ln(1/delta)) / noise_multiplier, and its inverse.
///
/// Sound for neighbours by adding or removing a record and epsilon <= 2.3 ln(1/delta), where it is above
/// rho + 2 sqrt(rho ln(1/delta)), rho = steps / (2 noise_multiplier^2).
/// Throws: ConfigError beyond that, and for a parameter outside its domain.
/// Source: PEA (Ruan et al., 2023), Protocol 3; Bun and Steinke (2016), Proposition 1.3, for the range.
[[nodiscard]] double PeaEpsilon(double noise_multiplier, std::int64_t steps, double delta);
[[nodiscard]] double PeaNoiseMultiplier(double target_epsilon, std::int64_t steps, double delta);

/// The smallest noise multiplier, to 1e-4 relative and never below 0.01, with epsilon(multiplier) <=
/// target_epsilon; that holds for the returned value itself. `epsilon` falls with its argument and may be
/// infinite. Throws: ConfigError where no multiplier up to 1e7 will do.
[[nodiscard]] double SmallestNoiseMultiplier(double target_epsilon,
                                             const std::function<double(double)>& epsilon);

/// The same for `steps` releases of one sampled Gaussian by the RDP accountant with default orders.
[[nodiscard]] double CalibrateNoiseMultiplier(double target_epsilon, double delta, double sampling_rate,
                                              std::int64_t steps);

}  // namespace trefoil::dp

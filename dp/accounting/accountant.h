#pragma once
#include <map>
#include <utility>
#include <vector>

#include "dp/accounting/guarantee.h"
#include "dp/accounting/rdp.h"
#include "dp/record/event.h"

namespace trefoil::dp {

/// Composes unlike events by adding their RDP curves.
///
/// SampledGaussian: SampledGaussianRdp. Laplace: LaplaceRdp. PureDp: PureDpRdp. ThreeLaplaceParts:
/// ThreeLaplacePartsRdp. MaxDivergence: (2 order - 1) / (order - 1) * bound, from putting exp(+-bound) under
/// the integral of both densities. TotalVariation: costs delta (1 + exp(epsilon)) * distance,
/// IndependentFailure its probability, taken off before the curve is converted. BestOfTrials: CurveOfTrials.
/// A sampled Gaussian of several units: as without sampling, an upper bound. The curve of a (rate,
/// multiplier) pair is computed once, so that adding step by step is cheap. Sums are rounded up, and so are
/// the curves by the error that SampledGaussianRdp states, so that no epsilon is below the exact one.
class RdpAccountant {
 public:
  /// Pre: every order above 1 (else ConfigError when an event is added).
  explicit RdpAccountant(std::vector<double> orders = DefaultRdpOrders());

  /// Throws ConfigError for a parameter outside its domain, or a negative count.
  void Add(const Event& event);
  void Add(const std::vector<Event>& events);

  /// The smallest epsilon at `delta` in (0, 1), and its order; zero if nothing was added; infinity where
  /// there is no guarantee. Where all that was added is pure (PureDp, Laplace, ThreeLaplaceParts), at most
  /// the sum of the epsilons.
  [[nodiscard]] Guarantee Epsilon(double delta, RdpConversion conversion = RdpConversion::kImproved) const;

  [[nodiscard]] const std::vector<double>& orders() const { return orders_; }
  /// The composed curve, one value per order.
  [[nodiscard]] const std::vector<double>& rdp() const { return rdp_; }

 private:
  void AddOne(const SampledGaussian& event);
  void AddOne(const Laplace& event);
  void AddOne(const PureDp& event);
  void AddOne(const ThreeLaplaceParts& event);
  void AddOne(const MaxDivergence& event);
  void AddOne(const TotalVariation& event);
  void AddOne(const IndependentFailure& event);
  void AddOne(const BestOfTrials& event);

  std::vector<double> orders_;
  std::vector<double> rdp_;
  double distance_ = 0;
  double failure_ = 0;
  double pure_ = 0;  ///< sum of the pure epsilons; infinity once something else was added
  std::map<std::pair<double, double>, std::vector<double>> curves_;  ///< by rate and multiplier
};

}  // namespace trefoil::dp

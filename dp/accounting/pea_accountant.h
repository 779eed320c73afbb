#pragma once
#include "dp/accounting/guarantee.h"
#include "dp/record/event.h"

namespace trefoil::dp {

/// The closed form of PEA for `steps` Gaussian releases without amplification by sampling:
/// epsilon = 2 sqrt(steps ln(1/delta)) / noise_multiplier, and its inverse.
///
/// Sound for neighbours by adding or removing a record and epsilon <= 2.3 ln(1/delta), where it is above
/// rho + 2 sqrt(rho ln(1/delta)), rho = steps / (2 noise_multiplier^2).
/// Throws: ConfigError beyond that, and for a parameter outside its domain.
/// Source: PEA (Ruan et al., 2023), Protocol 3; Bun and Steinke (2016), Proposition 1.3, for the range.
[[nodiscard]] double PeaEpsilon(double noise_multiplier, std::int64_t steps, double delta);
[[nodiscard]] double PeaNoiseMultiplier(double target_epsilon, std::int64_t steps, double delta);

/// Throws ConfigError unless `epsilon` is one that the closed form can prove: at most 2.3 ln(1/delta).
void CheckPeaRange(double epsilon, double delta);

/// The closed form over unlike events: epsilon = 2 sqrt(2 rho ln(1/delta)), rho their zero-concentrated
/// privacy, which adds up: count / (2 multiplier^2) of a Gaussian at any sampling rate above 0, count
/// epsilon^2 / 2 of PureDp, of Laplace with epsilon = 1 / scale, and of ThreeLaplaceParts with its rate.
/// MaxDivergence, TotalVariation and IndependentFailure as in PldAccountant; a Gaussian of several units at
/// multiplier / units; BestOfTrials is not proved by it.
class PeaAccountant {
 public:
  /// Throws ConfigError as CheckEvent.
  void Add(const Event& event);
  /// Infinity where the closed form proves nothing. Throws ConfigError unless delta is in (0, 1).
  [[nodiscard]] Guarantee Epsilon(double delta) const;

 private:
  double rho_ = 0;
  double divergence_ = 0;
  double distance_ = 0;
  double failure_ = 0;
};

}  // namespace trefoil::dp

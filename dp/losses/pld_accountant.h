#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "dp/accounting/accountant.h"
#include "dp/accounting/guarantee.h"
#include "dp/losses/pld.h"
#include "dp/record/event.h"

namespace trefoil::dp {

/// Composes unlike events by the distributions of their privacy losses (dp/losses/pld.h), never above what
/// RdpAccountant says, which is an upper bound, too, and is taken alone beyond 10^9 releases, and with
/// sampled Gaussians whose units are more than 200 of their deviations.
///
/// SampledGaussian, Laplace, PureDp, ThreeLaplaceParts: their loss distributions; plain Gaussians (rate 1)
/// are first put together into one, and where there is nothing else the analytic formula takes the place of
/// the grid. MaxDivergence of b in all: (epsilon, delta) becomes (epsilon + 2 b, e^b delta). TotalVariation
/// and IndependentFailure as in RdpAccountant. With a BestOfTrials, which has no loss distribution here, all
/// is RdpAccountant's.
class PldAccountant {
 public:
  /// Throws ConfigError as CheckEvent.
  void Add(const Event& event);

  /// An upper bound on epsilon at `delta` in (0, 1), and how far it is above the exact one at most, for what
  /// TotalVariation leaves of delta. Its order is 0 unless the bound is that of RDP. Cost: as Pld; adding
  /// costs nothing.
  [[nodiscard]] Guarantee Epsilon(double delta) const;

  /// The distributions for deltas about this one, to be used for several; nothing where none is needed.
  [[nodiscard]] std::optional<Pld> Distributions(double delta) const;
  /// As Epsilon(delta), with Distributions of a delta near it.
  [[nodiscard]] Guarantee Epsilon(double delta, const std::optional<Pld>& distributions) const;

  /// The mu of Gaussian differential privacy where all is plain Gaussians (rate 1), with a MaxDivergence of
  /// 1e-100 at most (and then a mu of 20 at most): no test does better than one of N(0, 1) against N(mu, 1).
  /// Rounded up, by 1e-11 relatively, but to 1e-6 at least where there is a divergence. Nothing else has one.
  [[nodiscard]] std::optional<double> Mu() const;

 private:
  void AddOne(const SampledGaussian& event);
  void AddOne(const Laplace& event);
  void AddOne(const PureDp& event);
  void AddOne(const ThreeLaplaceParts& event);
  void AddOne(const MaxDivergence& event);
  void AddOne(const TotalVariation& event);
  void AddOne(const IndependentFailure& event);
  void AddOne(const BestOfTrials& event);
  [[nodiscard]] std::vector<LossEvent> LossEvents() const;
  /// Of the one Gaussian that plain ones are together, rounded down.
  [[nodiscard]] double PlainMultiplier() const;
  /// Where there is nothing but plain Gaussians.
  [[nodiscard]] PldBounds PlainBounds(double delta) const;

  RdpAccountant rdp_;
  std::map<std::tuple<double, double, std::int64_t>, std::int64_t> sampled_;  ///< (rate, multiplier, units)
  std::map<double, std::int64_t> laplace_;                                    ///< scale: count
  std::map<double, std::int64_t> pure_;                                       ///< epsilon: count
  std::map<double, std::int64_t> parts_;                                      ///< rate: count
  double plain_ = 0;         ///< sum of 1 / multiplier^2 over plain Gaussians, rounded up
  double plain_events_ = 0;  ///< how many were added
  double releases_ = 0;
  double divergence_ = 0;
  double distance_ = 0;
  double failure_ = 0;
  bool bounded_ = true;  ///< false where an event gives no guarantee at all, or has RDP's alone
};

}  // namespace trefoil::dp

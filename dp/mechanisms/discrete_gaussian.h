#pragma once
#include <cstdint>
#include <span>

#include "base/secrets/random.h"
#include "dp/mechanisms/bernoulli.h"
#include "dp/mechanisms/discrete_laplace.h"

namespace trefoil::dp {

/// The discrete Gaussian on the integers, P[x] proportional to exp(-x^2 / (2 variance)), sampled exactly:
/// integer arithmetic only between the random words and the sample. docs/adr/0002 says how it fits 128 bits.
///
/// Variance: the one asked for, rounded up by a relative 2^-47 at most (below 2^48 not at all).
/// Law:      conditioned on |x| < 2^63, which is at least 80 deviations: a total variation below exp(-3200).
/// Source:   Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (2020), Algorithm 3.
class DiscreteGaussian {
 public:
  /// Throws ConfigError for a variance below 64 (a deviation of 8 lattice units) or with 40 deviations beyond
  /// 2^62.
  explicit DiscreteGaussian(const Uint256& variance_at_least);

  /// The variance parameter that is really sampled, in lattice units squared.
  [[nodiscard]] Uint256 variance() const;
  /// Its square root, rounded down.
  [[nodiscard]] double deviation() const;

  /// Not constant-time: the time depends on what is drawn. Below a microsecond.
  std::int64_t Sample(RandomStream& stream) const;
  void Sample(RandomStream& stream, std::span<std::int64_t> out) const;

  /// The sampler's last step: whether a Laplace proposal of this magnitude is kept, with probability
  /// exp(-(magnitude - variance / scale)^2 / (2 variance)). Pre: magnitude < 2^63.
  bool AcceptsProposal(RandomStream& stream, std::uint64_t magnitude) const;

 private:
  // With scale = 2^log_scale_: variance = mantissa_ * 2^variance_shift_, and the exponent above is
  // (magnitude * 2^lift_ - centre_)^2 / denominator_, every number an integer.
  unsigned log_scale_;
  unsigned variance_shift_;
  unsigned lift_;
  std::uint64_t mantissa_;
  Uint128 centre_;
  Uint128 denominator_;
  DiscreteLaplace proposal_;
};

}  // namespace trefoil::dp

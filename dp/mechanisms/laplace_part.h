#pragma once
#include <cstdint>
#include <vector>

#include "base/secrets/random.h"
#include "dp/mechanisms/geometric.h"

namespace trefoil::dp {

/// One party's part of discrete Laplace noise that no party knows. A part is the difference of two
/// independent negative binomials of shape 1/2; the sum of two independent parts has exactly the law of
/// DiscreteLaplace(rate.denominator, rate.numerator), P[x] proportional to exp(-|x| rate). So where three
/// parties add a part each, whoever knows one of them is left with exactly discrete Laplace noise, and
/// whoever knows none with that and one part more (docs/explanation/privacy.md, "Laplace noise in parts").
///
/// Law:    exact; integer arithmetic only between the random words and the sample.
/// Cost:   some 1 / rate coins, 64 from a random word. Not constant-time.
class LaplacePart {
 public:
  /// Throws ConfigError unless the rate is at least 2^-20 (and positive in both parts).
  explicit LaplacePart(const Ratio& rate);

  std::int64_t Sample(RandomStream& stream) const;

 private:
  Ratio rate_;
};

/// The negative binomial distribution of shape 1/2, exactly: P[k] = sqrt(1 - r) binomial(2k, k) (r / 4)^k
/// with r = exp(-rate). The sum of two independent ones is geometric. Not constant-time. Pre: as
/// SampleGeometric.
[[nodiscard]] std::uint64_t SampleHalfGeometric(RandomStream& stream, const Ratio& rate);

/// The largest level that LaplacePartsQuantile takes.
inline constexpr double kMaxPartsLevel = 0.999;

/// The least h such that the sum of `parts` independent parts is within -h ... h with probability `level` at
/// least. Within 1.5 % of the exact one or of two units above it, never below it but for the rounding of
/// doubles. Pre: parts from 1 to 3; 0 < level <= kMaxPartsLevel. Cost: below a tenth of a second.
[[nodiscard]] std::int64_t LaplacePartsQuantile(const Ratio& rate, int parts, double level);

/// The least m such that the sum of three independent parts is above m with probability `failure` at most, by
/// Chernoff's bound: not below the exact one, and above it by some scales at most.
/// Pre: 0 < failure < 1; a rate as LaplacePart takes.
[[nodiscard]] std::int64_t LaplacePartsMargin(const Ratio& rate, double failure);

}  // namespace trefoil::dp

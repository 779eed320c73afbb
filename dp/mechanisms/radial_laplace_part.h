#pragma once
#include <cstdint>

#include "base/secrets/random.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "dp/mechanisms/geometric.h"

namespace trefoil::dp {

/// One party's part of noise on a vector of integers that no party knows: the sum of two independent parts
/// has, but for failure(), the density that is proportional to exp(-|x| / s), |x| the L2 norm, in d' =
/// 4 parts_of_variance - 1 dimensions, as far as its first `coordinates` of them go. So where three parties
/// add a part each, whoever knows one of them is left with exactly that, and whoever knows none with that
/// and one part more (docs/explanation/privacy.md, "Radial Laplace noise in parts").
///
/// Law:  a part is a discrete Gaussian vector whose variance is drawn, too: a sum of geometric variables,
///       which are exponential ones rounded up. Integer arithmetic only between the random words and the
///       sample. Not constant-time.
class RadialLaplacePart {
 public:
  /// For vectors of which one unit of privacy changes the L2 norm by `sensitivity` at most. Throws
  /// ConfigError where the ring cannot hold the noise, or the lattice is too coarse for it.
  RadialLaplacePart(std::int64_t coordinates, double sensitivity, double epsilon);

  /// What two parts' noise costs if it has the density above: the epsilon asked for, or a little less.
  [[nodiscard]] double epsilon() const { return epsilon_; }
  /// How far two parts together are from a post-processing of that density, in total variation, at most.
  [[nodiscard]] double failure() const { return failure_; }
  /// s, in lattice units: the norm of two parts is d' s on average.
  [[nodiscard]] double scale() const { return scale_; }
  /// What a part's variance is drawn by: it is a sum of variables that are 2^step_bits() times geometric ones
  /// of this rate, so that the mean of each is about 2 s^2.
  [[nodiscard]] const Ratio& rate() const { return rate_; }
  [[nodiscard]] unsigned step_bits() const { return step_bits_; }
  /// d', from `coordinates` to three more, or 7.
  [[nodiscard]] std::int64_t dimensions() const { return 4 * exponentials_ - 1; }

  /// The law of every coordinate of one part, each drawn independently: its variance is the part's, drawn
  /// here, and as secret as the part.
  [[nodiscard]] DiscreteGaussian DrawLaw(RandomStream& stream) const;

 private:
  std::int64_t exponentials_;  ///< that a part's variance is the sum of
  Ratio rate_;                 ///< of each, for every 2^step_bits_ of the variance
  unsigned step_bits_ = 0;
  double epsilon_ = 0;
  double failure_ = 0;
  double scale_ = 0;
};

}  // namespace trefoil::dp

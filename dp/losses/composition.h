#pragma once
#include <cstdint>
#include <vector>

#include "dp/laws/grid_law.h"

namespace trefoil::dp {

/// So many releases of one law; all parts of a composition have the same width.
struct Part {
  GridLaw law;
  double count = 0;
};

/// A tilt of losses by exp(lambda loss), and the epsilon at delta that Chernoff's bound with it gives.
struct Tilt {
  double lambda = 0;
  double epsilon = 0;
};

/// The tilt that gives the least epsilon, or one near it: lambda + 1 is the best order of Renyi's divergence.
/// Pre: delta in (0, 1).
[[nodiscard]] Tilt ChooseTilt(const std::vector<Part>& parts, double delta);

/// A sum of independent losses on a grid, by Fourier transforms of tilted masses.
class Composition {
 public:
  /// Grid points that a transform may have; a composition that needs more wants a wider grid.
  static constexpr double kMaxPoints = 1 << 20;

  /// Pre: lambda > 0; equal widths; counts of at least 1, at most 1e9 in all.
  Composition(const std::vector<Part>& parts, double lambda);

  /// Whether the transform had room; else neither epsilon may be asked for.
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] double releases() const { return releases_; }

  /// An epsilon at which delta is at most `delta`, errors added; infinity where there is none. Pre: fits().
  [[nodiscard]] double EpsilonAbove(double delta) const;
  /// An epsilon at which delta is at least `delta`, errors taken off; 0 where there is none. Pre: fits().
  [[nodiscard]] double EpsilonBelow(double delta) const;

 private:
  void Compose(const std::vector<Part>& parts);
  /// The epsilon, at least 0, where delta(epsilon), with all errors added (sign 1) or taken off (sign -1) and
  /// with `infinite`, is `delta`.
  [[nodiscard]] double Crossing(double delta, double sign, double infinite) const;

  double width_ = 0;
  double lambda_ = 0;
  double releases_ = 0;
  double infinite_ = 0;              ///< mass at infinity, at most
  double log_moment_ = 0;            ///< log E[exp(lambda loss)] of the sum
  std::vector<double> log_moments_;  ///< of each part's single release
  std::int64_t first_ = 0;           ///< window of the sum, in grid points
  std::int64_t last_ = 0;
  double outside_ = 0;          ///< tilted mass outside of the window, at most
  double error_ = 0;            ///< sum of the absolute errors of tilted_, at most
  std::vector<double> tilted_;  ///< masses of the tilted sum in the window
  bool fits_ = true;
};

}  // namespace trefoil::dp

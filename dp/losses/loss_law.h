#pragma once
#include <functional>
#include <vector>

#include "dp/record/event.h"

namespace trefoil::dp {

/// Which of two neighbours is what was run: P has the record that Q has not (remove), or the other way round.
enum class Neighbour { kRemove, kAdd };

/// The law of the privacy loss log(dP/dQ) under P of one release: atoms, and a part with a density, in a
/// parameter u in which the loss increases.
struct LossLaw {
  struct Atom {
    double loss = 0;
    double mass = 0;
  };

  /// At one u.
  struct Point {
    double loss = 0;
    double density = 0;  ///< of u
  };

  std::vector<Atom> atoms;  ///< in the order of their losses
  bool has_density = false;
  double from = 0;  ///< range of u
  double to = 0;
  double smooth = 0;                      ///< width of u on which density and loss are polynomials to 1e-12
  double spread = 0;                      ///< how far the loss goes within the bulk of the noise
  std::function<Point(double)> at;        ///< of u
  std::function<double(double)> inverse;  ///< of the loss; -infinity or infinity outside of its range
  double below = 0;                       ///< mass below `from`, at most
  double above = 0;                       ///< mass above `to`, at most
};

/// The loss of a release whose law has tails of at most `tail` cut off on either side.
/// Of several units, with p_j = P[Bin(units, rate) = j] and s = 1 / multiplier, it is
/// log sum_j p_j exp(j s u - j^2 s^2 / 2), which is convex and increases in u.
/// Pre: a noise multiplier, a rate, a scale above 0; 0 < tail < 1/2.
[[nodiscard]] LossLaw LossOf(const SampledGaussian& event, Neighbour neighbour, double tail);
/// Both neighbours alike.
[[nodiscard]] LossLaw LossOf(const Laplace& event);
/// Of randomised response, which dominates every (epsilon, 0)-differentially private mechanism (Kairouz, Oh,
/// Viswanath 2015). Pre: a finite epsilon.
[[nodiscard]] LossLaw LossOf(const PureDp& event);
/// Both neighbours alike. Pre: a rate above 0.
[[nodiscard]] LossLaw LossOf(const ThreeLaplaceParts& event);

}  // namespace trefoil::dp

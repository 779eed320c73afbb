#include "dp/loss_law.h"

#include <cmath>
#include <limits>

namespace trefoil::dp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log(1 - q + q exp(t)) without overflow or a difference of nearly equal numbers.
double MixtureLoss(double q, double t) {
  if (q == 1) return t;
  if (t > 30) return t + std::log(q + (1 - q) * std::exp(-t));
  const double change = q * std::expm1(t);
  return std::abs(change) < 0.5 ? std::log1p(change) : std::log((1 - q) + q * std::exp(t));
}

/// The t with MixtureLoss(q, t) = loss; -infinity where there is none.
double MixtureLossInverse(double q, double loss) {
  if (q == 1) return loss;
  if (loss > 30) return loss - std::log(q) + std::log1p(-(1 - q) * std::exp(-loss));
  const double change = std::expm1(loss) / q;
  if (std::abs(change) < 0.5) return std::log1p(change);
  const double numerator = std::exp(loss) - (1 - q);
  return numerator > 0 ? std::log(numerator / q) : -kInfinity;
}

/// A normal variable is above it with probability `tail` at most.
double NormalTailPoint(double tail) { return std::sqrt(-2 * std::log(tail)); }

const double kLogRootTwoPi = std::log(2 * std::acos(-1.0)) / 2;

}  // namespace

LossLaw LossOf(const SampledGaussian& event, Neighbour neighbour, double tail) {
  const double q = event.sampling_rate;
  const double sigma = event.noise_multiplier;
  const double shift = 1 / sigma;
  const double reach = NormalTailPoint(tail);
  LossLaw law;
  law.has_density = true;
  law.from = -reach;
  law.below = tail;
  law.above = tail;
  // The loss has its singularities at a distance of pi sigma from the real axis.
  law.smooth = 0.1 * std::min(1.0, 2 * sigma);
  if (neighbour == Neighbour::kRemove) {
    // u is the noise over sigma: N(0, 1) without the record, N(shift, 1) with it.
    law.to = shift + reach;
    law.at = [=](double u) -> LossLaw::Point {
      const double loss = MixtureLoss(q, (u - shift / 2) * shift);
      return {loss, std::exp(loss - u * u / 2 - kLogRootTwoPi)};
    };
    law.inverse = [=](double loss) { return MixtureLossInverse(q, loss) * sigma + shift / 2; };
  } else {
    // u is minus the noise over sigma.
    law.to = reach;
    law.at = [=](double u) -> LossLaw::Point {
      return {-MixtureLoss(q, (-u - shift / 2) * shift), std::exp(-u * u / 2 - kLogRootTwoPi)};
    };
    law.inverse = [=](double loss) { return -(MixtureLossInverse(q, -loss) * sigma + shift / 2); };
  }
  law.spread = law.at(1).loss - law.at(-1).loss;
  return law;
}

LossLaw LossOf(const Laplace& event) {
  // Noise outside of [0, 1] gives one of the two extreme losses; u is minus the noise.
  const double bound = 1 / event.scale;
  LossLaw law;
  law.atoms = {{.loss = -bound, .mass = 0.5 * std::exp(-bound)}, {.loss = bound, .mass = 0.5}};
  law.has_density = true;
  law.from = -1;
  law.to = 0;
  law.smooth = 0.1 * std::min(1.0, event.scale);
  law.spread = bound;
  law.at = [=](double u) -> LossLaw::Point { return {(1 + 2 * u) * bound, bound / 2 * std::exp(u * bound)}; };
  law.inverse = [=](double loss) { return (loss / bound - 1) / 2; };
  return law;
}

LossLaw LossOf(const PureDp& event) {
  LossLaw law;
  const double truth = 1 / (1 + std::exp(-event.epsilon));
  law.atoms = {{.loss = -event.epsilon, .mass = truth * std::exp(-event.epsilon)},
               {.loss = event.epsilon, .mass = truth}};
  law.spread = event.epsilon;
  return law;
}

}  // namespace trefoil::dp

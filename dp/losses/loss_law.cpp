#include "dp/losses/loss_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dp/accounting/infinity.h"
#include "dp/laws/laplace_parts_law.h"

namespace trefoil::dp {
namespace {

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

/// log of the density of a mixture of N(j shift, 1), j of Bin(units, q), over that of N(0, 1).
class Mixture {
 public:
  Mixture(double q, double shift, std::int64_t units) : q_(q), shift_(shift) {
    if (units == 1 || q == 1) {
      shift_ *= static_cast<double>(units);
      return;
    }
    double log_weight = static_cast<double>(units) * std::log1p(-q);
    for (std::int64_t j = 0; j <= units; ++j) {
      const double step = static_cast<double>(j) * shift;
      parts_.push_back({.log_weight = log_weight, .slope = step, .offset = step * step / 2});
      log_weight += std::log(static_cast<double>(units - j) / static_cast<double>(j + 1) * q / (1 - q));
    }
  }

  [[nodiscard]] double Loss(double u) const {
    if (parts_.empty()) return MixtureLoss(q_, (u - shift_ / 2) * shift_);
    double largest = -kInfinity;
    double change = 0;
    for (const auto& part : parts_) {
      const double exponent = part.slope * u - part.offset;
      largest = std::max(largest, part.log_weight + exponent);
      change += exponent > 1 ? std::exp(part.log_weight + exponent) - std::exp(part.log_weight)
                             : std::exp(part.log_weight) * std::expm1(exponent);
    }
    if (std::abs(change) < 0.5) return std::log1p(change);
    double sum = 0;
    for (const auto& part : parts_) sum += std::exp(part.log_weight + part.slope * u - part.offset - largest);
    return largest + std::log(sum);
  }

  /// The u with Loss(u) = loss; -infinity where there is none.
  [[nodiscard]] double Inverse(double loss) const {
    if (parts_.empty()) return MixtureLossInverse(q_, loss) / shift_ + shift_ / 2;
    // Parts beyond the first make up this much of exp(loss); each alone gives a u that is not too small.
    const double least = parts_.front().log_weight;
    if (!(loss > least)) return -kInfinity;
    const double log_rest = loss - least > 1 ? loss + std::log1p(-std::exp(least - loss))
                                             : least + std::log(std::expm1(loss - least));
    double u = kInfinity;
    for (std::size_t j = 1; j < parts_.size(); ++j)
      u = std::min(u, (log_rest - parts_[j].log_weight + parts_[j].offset) / parts_[j].slope);
    // The logarithm of their sum is convex in u and rises, so that Newton's steps fall to the root.
    constexpr int kMaxSteps = 200;
    for (int step = 0; step < kMaxSteps; ++step) {
      const auto [at, slope] = Rest(u);
      const double next = u - (at - log_rest) / slope;
      if (!(next < u - 1e-15 * (1 + std::abs(u)))) break;
      u = next;
    }
    return u;
  }

 private:
  struct Part {
    double log_weight;  ///< of N(j shift, 1)
    double slope;       ///< j shift
    double offset;      ///< (j shift)^2 / 2
  };

  /// log of the sum of all parts but the first, and its slope.
  [[nodiscard]] std::pair<double, double> Rest(double u) const {
    double largest = -kInfinity;
    for (std::size_t j = 1; j < parts_.size(); ++j)
      largest = std::max(largest, parts_[j].log_weight + parts_[j].slope * u - parts_[j].offset);
    double sum = 0;
    double slope = 0;
    for (std::size_t j = 1; j < parts_.size(); ++j) {
      const double part = std::exp(parts_[j].log_weight + parts_[j].slope * u - parts_[j].offset - largest);
      sum += part;
      slope += part * parts_[j].slope;
    }
    return {largest + std::log(sum), slope / sum};
  }

  double q_;
  double shift_;
  std::vector<Part> parts_;  ///< j from 0; none where a closed form holds
};

/// A normal variable is above it with probability `tail` at most.
double NormalTailPoint(double tail) { return std::sqrt(-2 * std::log(tail)); }

const double kLogRootTwoPi = std::log(2 * std::acos(-1.0)) / 2;

}  // namespace

LossLaw LossOf(const SampledGaussian& event, Neighbour neighbour, double tail) {
  const double shift = 1 / event.noise_multiplier;
  const Mixture mixture(event.sampling_rate, shift, event.units);
  const double reach = NormalTailPoint(tail);
  LossLaw law;
  law.has_density = true;
  law.from = -reach;
  law.below = tail;
  law.above = tail;
  // The loss has its singularities at a distance of pi sigma from the real axis: of exp(shift u) the mixture
  // is a polynomial whose zeros are real, and negative (docs/explanation/privacy.md, "Several rows of one
  // person").
  law.smooth = 0.1 * std::min(1.0, 2 * event.noise_multiplier);
  if (neighbour == Neighbour::kRemove) {
    // u is the noise over sigma: N(0, 1) without the records, a mixture of N(j shift, 1) with them.
    law.to = static_cast<double>(event.units) * shift + reach;
    law.at = [=](double u) -> LossLaw::Point {
      const double loss = mixture.Loss(u);
      return {loss, std::exp(loss - u * u / 2 - kLogRootTwoPi)};
    };
    law.inverse = [=](double loss) { return mixture.Inverse(loss); };
  } else {
    // u is minus the noise over sigma.
    law.to = reach;
    law.at = [=](double u) -> LossLaw::Point {
      return {-mixture.Loss(-u), std::exp(-u * u / 2 - kLogRootTwoPi)};
    };
    law.inverse = [=](double loss) { return -mixture.Inverse(-loss); };
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

LossLaw LossOf(const ThreeLaplaceParts& event) {
  const auto responses = ThreePartsResponses(event.rate);
  LossLaw law;
  for (auto one = responses.rbegin(); one != responses.rend(); ++one)
    law.atoms.push_back({.loss = -one->epsilon, .mass = one->weight / (1 + std::exp(one->epsilon))});
  for (const auto& one : responses)
    law.atoms.push_back({.loss = one.epsilon, .mass = one.weight / (1 + std::exp(-one.epsilon))});
  law.spread = event.rate;
  return law;
}

}  // namespace trefoil::dp

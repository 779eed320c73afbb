#pragma once
#include <cmath>

namespace trefoil::dp {

/// delta(epsilon) of `count` randomised responses of `e0`, from the binomial distribution: all terms are
/// positive.
inline double ResponsesDelta(double e0, int count, double epsilon) {
  double delta = 0;
  for (int truths = 0; truths <= count; ++truths) {
    const double loss = (2 * truths - count) * e0;
    if (loss <= epsilon) continue;
    const double log_mass = std::lgamma(count + 1.0) - std::lgamma(truths + 1.0) -
                            std::lgamma(count - truths + 1.0) + truths * e0 -
                            count * std::log1p(std::exp(e0));
    delta += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  return delta;
}

}  // namespace trefoil::dp

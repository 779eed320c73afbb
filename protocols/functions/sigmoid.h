#pragma once
#include <cstdint>
#include <vector>

#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/arithmetic/rounding.h"

namespace trefoil::protocols {

/// The sigmoid as 1/2 + sum of coefficients[j] / 2^28 * sin(2 pi (2j + 1) x / P), P = 2^log2_period.
/// Within `error` of 1 / (1 + e^-x) on |x| <= P/4 (the roundings of the evaluation, below 2^-20, apart).
/// Beyond P/4 it is mirrored (f(P/2 - x) = f(x)), so it falls back to 1/2 at P/2; it is never further than
/// `excess` outside [0, 1], for any x. Source: scripts/derive/sigmoid_series.py.
struct SigmoidSeries {
  int log2_period = 0;
  double error = 0;
  double excess = 0;
  std::vector<std::int64_t> coefficients;
};

/// The shortest series that is accurate on |x| <= logit_bound. Pre: 0 < logit_bound <= 64, else
/// ContractError.
[[nodiscard]] const SigmoidSeries& SigmoidSeriesFor(double logit_bound);

/// The sigmoid of each element, at the scale of x. `rounding` is that of the last truncation; the sum of the
/// series before it depends on the mask (below 2^-20), so results are not a function of x with either.
/// Pre:    log2_period + frac_bits <= 64; any ring value.
/// Cost:   3 rounds; with K terms at most 2K + 8 words an element (2K + 2 of them offline), see SigmoidCost.
/// Source: docs/reference/protocols.md, "Trigonometric series" (masked opening modulo the period).
[[nodiscard]] mpc::FixedShare Sigmoid(mpc::Context& party, const mpc::FixedShare& x,
                                      const SigmoidSeries& series, Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost SigmoidCost(mpc::Index count, int frac_bits, const SigmoidSeries& series,
                                    Rounding rounding = Rounding::kStochastic);

/// The sigmoid of a local product at scale `product_bits`, opened straight into it; the result has
/// `frac_bits`. Cost: 3 rounds; at most 2K + 10 words an element.
[[nodiscard]] mpc::FixedShare SigmoidOfProduct(mpc::Context& party, const mpc::AdditiveShare& product,
                                               int product_bits, int frac_bits, const SigmoidSeries& series,
                                               Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost SigmoidOfProductCost(mpc::Index count, int product_bits, int frac_bits,
                                             const SigmoidSeries& series,
                                             Rounding rounding = Rounding::kStochastic);

}  // namespace trefoil::protocols

#pragma once
#include <cstdint>
#include <vector>

#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/arithmetic/rounding.h"

namespace trefoil::protocols {

/// The sigmoid as 1/2 + sum of coefficients[j] / 2^28 * sin(2 pi (2j + 1) x / P), P = 2^log2_period.
/// Within `error` of 1 / (1 + e^-x) on |x| <= P/4 (the roundings of the evaluation apart).
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

/// In how many bits a series' terms are dealt, added up and opened, and so how far the sum is off before it
/// is truncated to the result's scale (EvaluationError).
enum class SeriesWords {
  kHalf,   ///< 32 bits, half of the bytes: for results of at most kMostBitsOfHalfWords fraction bits
  kWhole,  ///< 64 bits: for results of at most 55 fraction bits
};
inline constexpr int kMostBitsOfHalfWords = 29;

/// How far a sum of terms may be from the series: 3e-4, or 2^-20 in whole words. The error depends on masks
/// that the dealer knows, and on what A and B open. Source: scripts/derive/sigmoid_series.py.
[[nodiscard]] double EvaluationError(SeriesWords words);

/// How a sigmoid is computed.
struct SigmoidOptions {
  Rounding rounding =
      Rounding::kStochastic;  ///< of the last truncation; what comes before it hangs on masks with both
  SeriesWords words = SeriesWords::kHalf;
};

/// The sigmoid of each element, at the scale of x: within series.error, EvaluationError and one unit of the
/// scale, and never further than series.excess and these outside [0, 1].
/// Pre:    log2_period + frac_bits <= 64; fraction bits as SeriesWords has them; any ring value.
/// Cost:   3 rounds; with K terms at most K + 8 words an element (K + 2 of them offline), or 2K + 8 (2K + 2),
///         see SigmoidCost.
/// Source: docs/reference/protocols.md, "Trigonometric series" (masked opening modulo the period).
[[nodiscard]] mpc::FixedShare Sigmoid(mpc::Context& party, const mpc::FixedShare& x,
                                      const SigmoidSeries& series, const SigmoidOptions& options = {});
[[nodiscard]] mpc::Cost SigmoidCost(mpc::Index count, int frac_bits, const SigmoidSeries& series,
                                    const SigmoidOptions& options = {});

/// The sigmoid of a local product at scale `product_bits`, opened straight into it; the result has
/// `frac_bits`. Cost: 3 rounds; at most K + 10 words an element, or 2K + 10.
[[nodiscard]] mpc::FixedShare SigmoidOfProduct(mpc::Context& party, const mpc::AdditiveShare& product,
                                               int product_bits, int frac_bits, const SigmoidSeries& series,
                                               const SigmoidOptions& options = {});
[[nodiscard]] mpc::Cost SigmoidOfProductCost(mpc::Index count, int product_bits, int frac_bits,
                                             const SigmoidSeries& series, const SigmoidOptions& options = {});

}  // namespace trefoil::protocols

#include "ml/activation.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "protocols/truncate.h"

namespace trefoil::ml {
namespace {

constexpr double kLargestLogitBound = 64;
// What the sigmoid's evaluation adds beside its last truncation: rounded coefficients and angles, far below
// this.
constexpr double kSeriesRounding = 1e-5;

protocols::PiecewisePolynomial Clamp(double bound, int frac_bits, protocols::Rounding rounding) {
  const auto limit = static_cast<std::int64_t>(std::ldexp(bound, frac_bits));
  const std::int64_t one = std::int64_t{1} << frac_bits;
  return {.thresholds = {-limit, limit},
          .coefficients = {{-limit, 0}, {0, one}, {limit, 0}},
          .input_bits = frac_bits,
          .last_shift = frac_bits,
          .width = 64,
          .rounding = rounding};
}

}  // namespace

Activation MakeActivation(Loss loss, double logit_bound, int frac_bits, protocols::Rounding rounding) {
  if (!(logit_bound > 0 && logit_bound <= kLargestLogitBound)) {
    throw ConfigError("training.logit_bound: found " + std::to_string(logit_bound) +
                      ", expected above 0, at most 64");
  }
  Activation activation;
  activation.loss = loss;
  activation.frac_bits = frac_bits;
  activation.rounding = rounding;
  if (loss == Loss::kSquared) {
    activation.clamp = Clamp(logit_bound, frac_bits, rounding);
    activation.error_at_zero = logit_bound;
    activation.error_at_one = logit_bound + 1;
  } else {
    activation.series = &protocols::SigmoidSeriesFor(logit_bound);
    activation.error_at_zero = 1 + activation.series->excess + kSeriesRounding + std::ldexp(1.0, -frac_bits);
    activation.error_at_one = activation.error_at_zero;
  }
  return activation;
}

double ErrorNormBound(const Activation& activation, int columns) {
  const double zero = activation.error_at_zero;
  const double one = activation.error_at_one;
  return std::sqrt(one * one + (columns - 1) * zero * zero);
}

mpc::FixedShare Predict(mpc::Context& party, const Activation& activation, const mpc::AdditiveShare& logits) {
  const int f = activation.frac_bits;
  if (activation.loss == Loss::kOneVsRest) {
    return protocols::SigmoidOfProduct(party, logits, 2 * f, f, *activation.series, activation.rounding);
  }
  const mpc::ArithShare truncated =
      protocols::Truncate(party, logits, f, protocols::Range::kSigned, activation.rounding);
  return {Evaluate(party, activation.clamp, truncated), f};
}

mpc::Cost PredictCost(const Activation& activation, mpc::Index count) {
  if (activation.loss == Loss::kOneVsRest) {
    return protocols::SigmoidOfProductCost(count, 2 * activation.frac_bits, activation.frac_bits,
                                           *activation.series, activation.rounding);
  }
  return Then(protocols::TruncateProductCost(count, activation.frac_bits, activation.rounding),
              EvaluateCost(activation.clamp, count));
}

}  // namespace trefoil::ml

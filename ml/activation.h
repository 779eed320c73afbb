#pragma once
#include "ml/settings.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/piecewise_polynomial.h"
#include "protocols/sigmoid.h"

namespace trefoil::ml {

/// How predictions come from logits, bounded for every ring value of a logit, so that the errors are bounded
/// whatever noise has done to the weights.
struct Activation {
  Loss loss = Loss::kOneVsRest;
  int frac_bits = 16;
  const protocols::SigmoidSeries* series = nullptr;  ///< kOneVsRest
  protocols::PiecewisePolynomial clamp;              ///< kSquared: to +- logit_bound
  double error_at_zero = 0;                          ///< bound on |prediction - label| for label 0
  double error_at_one = 0;                           ///< and for label 1, never the smaller one
  protocols::Rounding rounding = protocols::Rounding::kStochastic;
};

/// Bound on the norm of an example's errors, for every ring value of its logits: one label of several columns
/// is 1, a single one may be.
[[nodiscard]] double ErrorNormBound(const Activation& activation, int columns);

/// Throws ConfigError where the logit bound is beyond every sigmoid series.
[[nodiscard]] Activation MakeActivation(Loss loss, double logit_bound, int frac_bits,
                                        protocols::Rounding rounding = protocols::Rounding::kStochastic);

/// Predictions from the logits' local product at scale 2 * frac_bits; the result has frac_bits.
/// Cost: 3 rounds for one-vs-rest (SigmoidOfProduct), at most 14 for squared loss.
[[nodiscard]] mpc::FixedShare Predict(mpc::Context& party, const Activation& activation,
                                      const mpc::AdditiveShare& logits);
[[nodiscard]] mpc::Cost PredictCost(const Activation& activation, mpc::Index count);

}  // namespace trefoil::ml

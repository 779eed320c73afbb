#pragma once
#include <optional>
#include <string>

#include "ml/plan/settings.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/functions/exponential.h"
#include "protocols/functions/piecewise_polynomial.h"
#include "protocols/functions/sigmoid.h"
#include "protocols/functions/softmax.h"

namespace trefoil::ml {

struct ActivationOptions {
  Loss loss = Loss::kOneVsRest;
  int columns = 1;  ///< logits of a row
  double logit_bound = 64;
  double huber_threshold = 0;  ///< kHuber: d
  int frac_bits = 16;
  std::optional<int> row_frac_bits{};  ///< of the rows that logits are products of; empty: frac_bits
  protocols::Rounding rounding = protocols::Rounding::kStochastic;
  protocols::Form form = protocols::Form::kBulk;  ///< of comparisons
};

/// How predictions come from logits, bounded for every ring value of a logit, so that the errors are bounded
/// whatever noise has done to the weights.
struct Activation {
  ActivationOptions options;                         ///< softmax of one column is one-vs-rest
  const protocols::SigmoidSeries* series = nullptr;  ///< kOneVsRest
  protocols::PiecewisePolynomial clamp;  ///< kSquared: to +- logit_bound; a single column is then raised
                                         ///< by 1/2, so that logit 0 lies between its two labels. kHuber:
                                         ///< of errors, to +- d rounded down to a multiple of 2^-frac_bits
  std::optional<protocols::SoftmaxTable> softmax;  ///< kSoftmax
  /// KPoisson: e^x for x <= 0 and 1 beyond, of x = logit - kPoissonOffset.
  std::optional<protocols::ExponentialTable> exponential{};
  int row_bits = 64;      ///< k: logits are products modulo 2^k
  double error_norm = 0;  ///< bound on the norm of a row's errors, prediction - label, for every ring value
                          ///< of its logits: one label of several columns is 1, a single one lies in 0 ... 1
};

/// Softmax clamps logits to +- logit_bound where the ring has the bits for their exponentials (up to 10 at
/// 16 fraction bits), and beyond takes them as they are, less the largest of their row.
/// Pre: of Huber's and Poisson's loss one column, and of Huber's a threshold from MinHuberThreshold() to
/// kMaxHuberThreshold.
/// Throws ConfigError where the logit bound is beyond every sigmoid series, or too small for softmax, and for
/// softmax with exact truncation, which it does not have.
[[nodiscard]] Activation MakeActivation(const ActivationOptions& options);

/// All constants as text, for the parties to compare.
[[nodiscard]] std::string Fingerprint(const Activation& activation);

/// Predictions from the logits' local product, modulo 2^row_bits, whose scale is that of rows and of weights,
/// frac_bits; the result has frac_bits.
/// Pre:  not for Huber's loss, whose predictions have no bound; for all but one-vs-rest |logits| <
///       2^(row_bits - 2),
/// else
///       predictions mean nothing; the bound on errors holds all the same.
/// Cost: 3 rounds for one-vs-rest (SigmoidOfProduct); for squared loss 13 in bulk form, 6 in latency form;
///       for softmax 2 and SoftmaxCost; for Poisson's loss 2 and ExponentialCost.
[[nodiscard]] mpc::FixedShare Predict(mpc::Context& party, const Activation& activation,
                                      const mpc::AdditiveShare& logits);
[[nodiscard]] mpc::Cost PredictCost(const Activation& activation, mpc::Index rows);

/// Predictions less labels, which have frac_bits. Of Huber's loss: logit + 1/2 less the label, clamped to +-
/// d; right where |logits| < 2^(row_bits - 2), and within the bound for all. Cost: PredictCost; of Huber's
/// loss that of the squared loss.
[[nodiscard]] mpc::FixedShare Errors(mpc::Context& party, const Activation& activation,
                                     const mpc::AdditiveShare& logits, const mpc::FixedShare& labels);

/// Computation that the comparisons of `rows` predictions, or their sigmoids' series, are expected to take
/// (protocols/cost_model.h).
[[nodiscard]] double PredictSeconds(const Activation& activation, mpc::Index rows);

}  // namespace trefoil::ml

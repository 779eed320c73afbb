#include "ml/dpsgd/activation.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "base/error.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/cost_model.h"

namespace trefoil::ml {
namespace {

using mpc::Word;

constexpr double kLargestLogitBound = 64;
// In which a prediction's series is evaluated; what that adds to an error is charged.
constexpr auto kSeriesWords = protocols::SeriesWords::kHalf;
// Logit bounds that softmax clamps to: 2.9 bits of e^(2 bound) a logit (protocols/functions/softmax.h).
constexpr double kMinSoftmaxBound = 0.125;
constexpr double kLargestSoftmaxBound = 12;
constexpr double kBitsPerLogit = 2.9;
constexpr double kExponentialBits = 45;

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

/// One label of several columns is 1; that of a single column is within 1/2 of the middle, which is added to
/// its logit.
double SquaredErrorNorm(double logit_bound, int columns) {
  if (columns == 1) return logit_bound + 0.5;
  const double one = logit_bound + 1;
  return std::sqrt(one * one + (columns - 1) * logit_bound * logit_bound);
}

double SigmoidErrorNorm(const protocols::SigmoidSeries& series, const ActivationOptions& options) {
  const double error =
      1 + series.excess + protocols::EvaluationError(kSeriesWords) + std::ldexp(1.0, -options.frac_bits);
  return std::sqrt(static_cast<double>(options.columns)) * error;
}

/// e^x up to x = 0, where it stays: never negative, and above 1 by no more than its accuracy.
protocols::ExponentialTable ExponentialFor(const ActivationOptions& options) {
  auto table = protocols::MakeExponentialTable({.lowest = -32,
                                                .highest = 0,
                                                .input_bits = options.frac_bits,
                                                .output_bits = options.frac_bits,
                                                .accuracy_bits = std::min(options.frac_bits + 1, 25)});
  table.pieces.rounding = options.rounding;
  return table;
}

protocols::SoftmaxTable SoftmaxFor(const ActivationOptions& options) {
  if (options.rounding == protocols::Rounding::kExact)
    throw ConfigError(
        "training.truncation: found \"exact\", expected \"stochastic\" with model.loss \"softmax\", whose "
        "models "
        "exact rounding makes no better");
  if (options.logit_bound < kMinSoftmaxBound) {
    throw ConfigError("training.logit_bound: found " + std::to_string(options.logit_bound) +
                      ", expected at least 0.125 for model.loss \"softmax\"");
  }
  protocols::SoftmaxOptions softmax{
      .classes = options.columns, .frac_bits = options.frac_bits, .form = options.form};
  const bool fits = kBitsPerLogit * options.logit_bound < kExponentialBits - options.frac_bits;
  if (fits && options.logit_bound <= kLargestSoftmaxBound) softmax.logit_bound = options.logit_bound;
  return protocols::MakeSoftmaxTable(softmax);
}

/// Fraction bits of rows.
int RowBitsOf(const ActivationOptions& options) { return options.row_frac_bits.value_or(options.frac_bits); }

/// Bits in which logits are known once they have 2 frac_bits behind the point.
int LogitWidth(const Activation& activation) {
  const ActivationOptions& options = activation.options;
  return std::min(64, activation.row_bits + options.frac_bits - RowBitsOf(options));
}

/// Logits at frac_bits. They are truncated by frac_bits, whatever rows have: so the result is below 2^(65 -
/// f) in absolute value, whatever they were, which is what Softmax and the clamps want.
mpc::ArithShare TruncatedLogits(mpc::Context& party, const Activation& activation,
                                const mpc::AdditiveShare& logits) {
  const ActivationOptions& options = activation.options;
  const Word to_scale = Word{1} << (options.frac_bits - RowBitsOf(options));
  return protocols::TruncateNarrow(party, to_scale * logits, options.frac_bits,
                                   {.width = LogitWidth(activation)}, options.rounding);
}

template <typename Numbers>
void PutAll(std::ostream& text, const Numbers& numbers) {
  text << " [";
  for (const auto number : numbers) text << ' ' << number;
  text << ']';
}

void Put(std::ostream& text, const protocols::PiecewisePolynomial& pieces) {
  text << " pieces " << pieces.input_bits << ' ' << pieces.last_shift << ' ' << pieces.width << ' '
       << static_cast<int>(pieces.rounding) << ' ' << pieces.blur.dropped;
  PutAll(text, pieces.thresholds);
  for (const auto& piece : pieces.coefficients) PutAll(text, piece);
  PutAll(text, pieces.origins);
}

void Put(std::ostream& text, const protocols::SoftmaxTable& table) {
  text << " softmax " << table.options.classes << ' ' << table.options.frac_bits << ' '
       << table.options.logit_bound.value_or(0) << ' ' << table.options.width << ' '
       << static_cast<int>(table.options.form) << ' ' << table.exponential.output_bits << ' '
       << table.normalising.lowest << ' ' << table.normalising_shift;
  Put(text, table.exponential.pieces);
  for (const auto& entries : table.normalising.tables) PutAll(text, entries);
}

}  // namespace

Activation MakeActivation(const ActivationOptions& options) {
  if (!(options.logit_bound > 0 && options.logit_bound <= kLargestLogitBound)) {
    throw ConfigError("training.logit_bound: found " + std::to_string(options.logit_bound) +
                      ", expected above 0, at most 64");
  }
  Activation activation;
  activation.options = options;
  if (options.loss == Loss::kSoftmax && options.columns > 1) {
    activation.softmax = SoftmaxFor(options);
    activation.error_norm = activation.softmax->distance;
  } else if (options.loss == Loss::kSquared) {
    activation.clamp = Clamp(options.logit_bound, options.frac_bits, options.rounding);
    activation.error_norm = SquaredErrorNorm(options.logit_bound, options.columns);
  } else if (options.loss == Loss::kHuber) {
    Require(options.columns == 1 && options.huber_threshold >= MinHuberThreshold(options.frac_bits) &&
                options.huber_threshold <= kMaxHuberThreshold,
            "MakeActivation: one column and a threshold for Huber's loss");
    activation.clamp = Clamp(options.huber_threshold, options.frac_bits, options.rounding);
    activation.error_norm =
        std::ldexp(static_cast<double>(activation.clamp.thresholds.back()), -options.frac_bits);
  } else if (options.loss == Loss::kPoisson) {
    Require(options.columns == 1, "MakeActivation: one column for Poisson's loss");
    activation.exponential = ExponentialFor(options);
    activation.error_norm = 1 + activation.exponential->relative + activation.exponential->absolute;
  } else {
    activation.options.loss = Loss::kOneVsRest;
    activation.series = &protocols::SigmoidSeriesFor(options.logit_bound);
    activation.error_norm = SigmoidErrorNorm(*activation.series, options);
  }
  return activation;
}

std::string Fingerprint(const Activation& activation) {
  const ActivationOptions& options = activation.options;
  std::ostringstream text;
  text << std::hexfloat;
  text << static_cast<int>(options.loss) << ' ' << options.columns << ' ' << options.logit_bound << ' '
       << options.frac_bits << ' ' << static_cast<int>(options.rounding) << ' '
       << static_cast<int>(options.form) << ' ' << activation.error_norm;
  if (activation.series != nullptr) {
    text << " series " << activation.series->log2_period;
    PutAll(text, activation.series->coefficients);
  }
  Put(text, activation.clamp);
  if (activation.softmax) Put(text, *activation.softmax);
  if (activation.exponential) Put(text, activation.exponential->pieces);
  return text.str();
}

mpc::FixedShare Predict(mpc::Context& party, const Activation& activation, const mpc::AdditiveShare& logits) {
  const ActivationOptions& options = activation.options;
  Require(options.loss != Loss::kHuber, "Predict: not for Huber's loss");
  const int f = options.frac_bits;
  if (options.loss == Loss::kOneVsRest) {
    return protocols::SigmoidOfProduct(party, logits, RowBitsOf(options) + f, f, *activation.series,
                                       {.rounding = options.rounding, .words = kSeriesWords});
  }
  const mpc::ArithShare truncated = TruncatedLogits(party, activation, logits);
  if (options.loss == Loss::kSoftmax) return Softmax(party, *activation.softmax, {truncated, f});
  if (options.loss == Loss::kPoisson) {
    const mpc::ArithShare moved = AddPublic(party, truncated, Word{0} - (Word{kPoissonOffset} << f));
    return Exponential(party, *activation.exponential, {moved, f}, options.form);
  }
  const mpc::ArithShare clamped = Evaluate(party, activation.clamp, truncated, options.form);
  return {options.columns > 1 ? clamped : AddPublic(party, clamped, mpc::Word{1} << (f - 1)), f};
}

mpc::FixedShare Errors(mpc::Context& party, const Activation& activation, const mpc::AdditiveShare& logits,
                       const mpc::FixedShare& labels) {
  const ActivationOptions& options = activation.options;
  if (options.loss != Loss::kHuber) return Predict(party, activation, logits) - labels;
  const int f = options.frac_bits;
  const mpc::ArithShare truncated = TruncatedLogits(party, activation, logits);
  // Below 2^(65 - f) + 2^f, whatever was truncated: what the clamp wants.
  const mpc::ArithShare residual = AddPublic(party, truncated, mpc::Word{1} << (f - 1)) - labels.ring();
  return {Evaluate(party, activation.clamp, residual, options.form), f};
}

mpc::Cost PredictCost(const Activation& activation, mpc::Index rows) {
  const ActivationOptions& options = activation.options;
  const mpc::Index count = rows * options.columns;
  if (options.loss == Loss::kOneVsRest) {
    return protocols::SigmoidOfProductCost(count, RowBitsOf(options) + options.frac_bits, options.frac_bits,
                                           *activation.series,
                                           {.rounding = options.rounding, .words = kSeriesWords});
  }
  const mpc::Cost truncation =
      protocols::TruncateNarrowCost(count, options.frac_bits, options.rounding, LogitWidth(activation));
  if (options.loss == Loss::kSoftmax) return Then(truncation, SoftmaxCost(*activation.softmax, rows));
  if (options.loss == Loss::kPoisson)
    return Then(truncation, ExponentialCost(*activation.exponential, count, options.form));
  return Then(truncation, EvaluateCost(activation.clamp, count, options.form));
}

double PredictSeconds(const Activation& activation, mpc::Index rows) {
  const ActivationOptions& options = activation.options;
  if (options.loss == Loss::kSquared || options.loss == Loss::kHuber) {
    return protocols::ComparisonSeconds(options.form, rows * options.columns,
                                        static_cast<std::int64_t>(activation.clamp.thresholds.size()),
                                        activation.clamp.width);
  }
  if (options.loss == Loss::kPoisson) {
    const auto& table = activation.exponential->pieces;
    return protocols::ComparisonSeconds(options.form, rows,
                                        static_cast<std::int64_t>(table.thresholds.size()), table.width);
  }
  if (options.loss == Loss::kOneVsRest)
    return protocols::SeriesSeconds(rows * options.columns,
                                    static_cast<std::int64_t>(activation.series->coefficients.size()));
  const protocols::SoftmaxTable& table = *activation.softmax;
  const mpc::Index columns = table.options.classes;
  const auto pieces = static_cast<std::int64_t>(table.exponential.pieces.thresholds.size());
  const auto octaves = static_cast<std::int64_t>(table.normalising.tables.front().size());
  const mpc::Index matches = table.options.logit_bound ? 0 : rows * (columns - 1);
  const auto seconds = [&](mpc::Index count, std::int64_t thresholds) {
    return protocols::ComparisonSeconds(table.options.form, count, thresholds, table.options.width);
  };
  return seconds(rows * columns, pieces) + seconds(matches, 1) +
         protocols::LeadingBitSeconds(table.options.form, rows, octaves, table.options.width);
}

}  // namespace trefoil::ml

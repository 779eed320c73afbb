#include <cmath>
#include <iomanip>
#include <sstream>

#include "protocols/catalogue/catalogue.h"
#include "protocols/cost_model.h"
#include "protocols/functions/clip_factor.h"
#include "protocols/functions/exponential.h"
#include "protocols/functions/inverse_sqrt.h"
#include "protocols/functions/maximum.h"
#include "protocols/functions/piecewise_polynomial.h"
#include "protocols/functions/reciprocal.h"
#include "protocols/functions/relu.h"
#include "protocols/functions/sigmoid.h"
#include "protocols/functions/softmax.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::Context;
using mpc::FixedShare;

const std::vector<Form> kBoth{Form::kBulk, Form::kLatency};

/// The largest real number that inputs of that s are.
double BoundOf(const Size& s) { return std::ldexp(1, s.input_bits - s.fraction_bits); }

constexpr SigmoidOptions kInWholeWords{.words = SeriesWords::kWhole};

/// Linear pieces.
PiecewisePolynomial PiecesOf(const Size& s) {
  PiecewisePolynomial f;
  for (int k = 0; k < s.pieces; ++k) {
    if (k > 0) f.thresholds.push_back(k);
    f.coefficients.push_back({k + 1, 2 * k + 1});
  }
  f.input_bits = s.fraction_bits;
  f.last_shift = s.fraction_bits;
  f.width = s.width;
  return f;
}

double SecondsOf(const PiecewisePolynomial& pieces, const Size& s) {
  return ComparisonSeconds(s.form, s.count, static_cast<std::int64_t>(pieces.thresholds.size()),
                           pieces.width);
}

ExponentialTable ExponentialTableOf(const Size& s) {
  return MakeExponentialTable(
      {.input_bits = s.fraction_bits, .output_bits = s.fraction_bits, .width = s.width});
}

ReciprocalRange RangeOf(const Size& s) {
  return {.lowest_log2 = -s.fraction_bits, .highest_log2 = s.input_bits - s.fraction_bits};
}

ClipTable ClipTableOf(const Size& s) {
  constexpr double kClip = 0.5;
  constexpr double kSquaredNormBound = 20.2;  // ten classes, rows of norm 1 and a bias
  return MakeClipTable(kClip, kSquaredNormBound, s.fraction_bits, s.form, s.rounding);
}

SoftmaxTable SoftmaxTableOf(const Size& s) {
  return MakeSoftmaxTable(
      {.classes = s.columns, .frac_bits = s.fraction_bits, .width = s.width, .form = s.form});
}

SoftmaxTable BoundedSoftmaxTableOf(const Size& s) {
  return MakeSoftmaxTable({.classes = s.columns,
                           .frac_bits = s.fraction_bits,
                           .logit_bound = BoundOf(s),
                           .width = s.width,
                           .form = s.form});
}

double SecondsOf(const SoftmaxTable& table, const Size& s) {
  const auto thresholds = static_cast<std::int64_t>(table.exponential.pieces.thresholds.size());
  return ComparisonSeconds(s.form, s.count * s.columns, thresholds + (table.options.logit_bound ? 0 : 1), 64);
}

/// Two digits, rounded up.
std::string UpTo(double bound) {
  const double digit = std::pow(10.0, std::floor(std::log10(bound)) - 1);
  std::ostringstream out;
  out << std::setprecision(2) << std::ceil(bound / digit) * digit;
  return out.str();
}

std::string ErrorOf(const ExponentialTable& table) {
  return UpTo(table.relative) + " · max(1, e^x) and " + UpTo(table.absolute);
}

std::vector<Entry> Maxima() {
  const std::string section = Section("Rectifier and maximum");
  const auto seconds = [](const Size& s) {
    return ComparisonSeconds(s.form, s.count * (s.columns - 1), 1, s.width);
  };
  return {
      {.name = "maximum",
       .row = {"maximum of a row", "`RowMaximum`", "row of 10", section,
               As("table look-up ({form}), multiply")},
       .forms = kBoth,
       .size = {.columns = 10},
       .cost = [](const Size& s) { return RowMaximumCost(s.count, s.columns, s.width, s.form); },
       .seconds = seconds,
       .prepare = OnNumbers(
           [](Context& p, const ArithShare& x, const Size& s) { return RowMaximum(p, x, s.width, s.form); })},
      {.name = "arg_max",
       .row = {"place of the maximum", "`RowArgMax`", "row of 10", section,
               As("maximum of a row ({form}), multiply")},
       .forms = kBoth,
       .size = {.columns = 10},
       .cost = [](const Size& s) { return RowArgMaxCost(s.count, s.columns, s.width, s.form); },
       .seconds = seconds,
       .prepare = OnNumbers(
           [](Context& p, const ArithShare& x, const Size& s) { return RowArgMax(p, x, s.width, s.form); })},
      {.name = "relu",
       .row = {"rectifier", "`Relu`", "element", section, As("table look-up ({form}), multiply")},
       .forms = kBoth,
       .cost = [](const Size& s) { return ReluCost(s.count, s.width, s.form); },
       .seconds = [](const Size& s) { return ComparisonSeconds(s.form, s.count, 1, s.width); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         const ReluResult result = Relu(p, FixedShare(x, s.fraction_bits), s.width, s.form);
         return Stacked(result.values.ring(), result.positive);
       })},
  };
}

std::vector<Entry> Polynomials() {
  const std::string section = Section("Piecewise polynomials");
  return {
      {.name = "look_up",
       .row = {"table look-up, 8 pieces of degree 1", "`LookUp`", "element", section,
               As("comparison (bulk), bit to number")},
       .forms = kBoth,
       .seen_in_latency = kSeesKey,
       .size = {.input_bits = 40, .pieces = 8},
       .cost = [](const Size& s) { return LookUpCost(PiecesOf(s), s.count, s.form); },
       .seconds = [](const Size& s) { return SecondsOf(PiecesOf(s), s); },
       .prepare = OnNumbersBy(PiecesOf, [](Context& p, const PiecewisePolynomial& table, const ArithShare& x,
                                           const Size& s) { return LookUp(p, table, x, s.form); })},
      {.name = "evaluate",
       .row = {"piecewise polynomial, 8 pieces of degree 1", "`Evaluate`", "element", section,
               As("table look-up ({form}), truncate a product"), "the table's, and 1 unit a degree"},
       .forms = kBoth,
       .size = {.input_bits = 40, .pieces = 8},
       .cost = [](const Size& s) { return EvaluateCost(PiecesOf(s), s.count, s.form); },
       .seconds = [](const Size& s) { return SecondsOf(PiecesOf(s), s); },
       .prepare =
           OnNumbersBy(PiecesOf, [](Context& p, const PiecewisePolynomial& function, const ArithShare& x,
                                    const Size& s) { return Evaluate(p, function, x, s.form); })},
      {.name = "exp",
       .row = {"exponential on [−32, 0]", "`Exponential`", "element", Section("Exponential"),
               As("piecewise polynomial ({form})"), ErrorOf(ExponentialTableOf({}))},
       .forms = kBoth,
       .size = {.input_bits = 20},
       .cost = [](const Size& s) { return ExponentialCost(ExponentialTableOf(s), s.count, s.form); },
       .seconds = [](const Size& s) { return SecondsOf(ExponentialTableOf(s).pieces, s); },
       .prepare =
           OnNumbersBy(ExponentialTableOf,
                       [](Context& p, const ExponentialTable& table, const ArithShare& x, const Size& s) {
                         return Exponential(p, table, FixedShare(x, s.fraction_bits), s.form);
                       })},
      {.name = "reciprocal",
       .row = {"reciprocal on [2^−16, 2^8]", "`Reciprocal`", "element", Section("Reciprocal"),
               As("look-up by the leading bit ({form}), truncate a product"), "1.002 units and 1e−8"},
       .forms = kBoth,
       .size = {.input_bits = 24},
       .positive = true,
       .cost = [](const Size& s) { return ReciprocalCost(s.count, s.fraction_bits, RangeOf(s), s.form); },
       .seconds =
           [](const Size& s) { return LeadingBitSeconds(s.form, s.count, s.input_bits, s.input_bits + 2); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return Reciprocal(p, FixedShare(x, s.fraction_bits), RangeOf(s), s.form);
       })},
  };
}

std::vector<Entry> Softmaxes() {
  const std::string section = Section("Softmax");
  const auto softmax = [](Context& p, const SoftmaxTable& table, const ArithShare& x, const Size& s) {
    return Softmax(p, table, FixedShare(x, s.fraction_bits));
  };
  return {
      {.name = "softmax",
       .row =
           {"softmax with a maximum", "`Softmax`", "row of 10", section,
            As("maximum of a row, exponential, look-up by the leading bit (all {form}), truncate a product"),
            "under 7 units; rows within √2 and 4 units of a label"},
       .forms = kBoth,
       .size = {.columns = 10, .input_bits = 20},
       .cost = [](const Size& s) { return SoftmaxCost(SoftmaxTableOf(s), s.count); },
       .seconds = [](const Size& s) { return SecondsOf(SoftmaxTableOf(s), s); },
       .prepare = OnNumbersBy(SoftmaxTableOf, softmax)},
      {.name = "softmax_bounded",
       .row = {"softmax of logits within ±8", "", "row of 10", section,
               As("exponential, look-up by the leading bit (both {form}), truncate a product"),
               "under 3 units; rows within √2 and 4 units of a label"},
       .forms = kBoth,
       .size = {.columns = 10, .input_bits = 19},
       .cost = [](const Size& s) { return SoftmaxCost(BoundedSoftmaxTableOf(s), s.count); },
       .seconds = [](const Size& s) { return SecondsOf(BoundedSoftmaxTableOf(s), s); },
       .prepare = OnNumbersBy(BoundedSoftmaxTableOf, softmax)},
  };
}

std::vector<Entry> Sigmoids() {
  const std::string series = Section("Trigonometric series");
  return {
      {.name = "sigmoid",
       .row = {"sigmoid within ±64", "`Sigmoid`", "element", series, kSeesOpening, "0.005"},
       .further = {{"the same within ±8", "element", {.input_bits = 19}}},
       .forms = {Form::kLatency},
       .size = {.input_bits = 22},
       .cost =
           [](const Size& s) {
             return SigmoidCost(s.count, s.fraction_bits, SigmoidSeriesFor(BoundOf(s)),
                                {.rounding = s.rounding});
           },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return Sigmoid(p, FixedShare(x, s.fraction_bits), SigmoidSeriesFor(BoundOf(s)),
                        {.rounding = s.rounding});
       })},
      {.name = "sigmoid_of_product",
       .row = {"sigmoid of a product, within ±64", "`SigmoidOfProduct`", "element", series,
               kSeesOpeningOfProduct, "0.005"},
       .forms = {Form::kLatency},
       .size = {.input_bits = 38, .fraction_bits = 32},
       .cost =
           [](const Size& s) {
             return SigmoidOfProductCost(s.count, s.fraction_bits, s.fraction_bits / 2,
                                         SigmoidSeriesFor(BoundOf(s)));
           },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return SigmoidOfProduct(p, ToAdditive(x), s.fraction_bits, s.fraction_bits / 2,
                                 SigmoidSeriesFor(BoundOf(s)));
       })},
      {.name = "sigmoid_in_whole_words",
       .row = {"the same in whole words, closer to the series", "`SigmoidOfProduct`", "element", series,
               kSeesOpeningOfProduct, "0.005"},
       .forms = {Form::kLatency},
       .size = {.input_bits = 38, .fraction_bits = 32},
       .cost =
           [](const Size& s) {
             return SigmoidOfProductCost(s.count, s.fraction_bits, s.fraction_bits / 2,
                                         SigmoidSeriesFor(BoundOf(s)), kInWholeWords);
           },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return SigmoidOfProduct(p, ToAdditive(x), s.fraction_bits, s.fraction_bits / 2,
                                 SigmoidSeriesFor(BoundOf(s)), kInWholeWords);
       })},
  };
}

std::vector<Entry> InverseRoots() {
  const std::string section = Section("Inverse square root", "PEA, protocol 1");
  const std::string error = "0.009 to 0.89 % below, and rounding";
  return {
      {.name = "clip_factor",
       .row = {"clip factor, C = 0.5, s ≤ 20.2", "`ClipFactor`", "element",
               Section("Clip factor", "PEA, protocol 3; adr/0008"),
               As("truncate, piecewise polynomial (bulk)"), "0 to 5 % below"},
       .forms = kBoth,
       .seen_in_latency = kSeesKey,
       .size = {.input_bits = 52, .fraction_bits = 48},
       .positive = true,
       .cost = [](const Size& s) { return ClipFactorCost(ClipTableOf(s), s.count); },
       .seconds = [](const Size& s) { return SecondsOf(ClipTableOf(s).pieces, s); },
       .prepare = OnNumbersBy(ClipTableOf, [](Context& p, const ClipTable& table, const ArithShare& x,
                                              const Size&) { return ClipFactor(p, table, ToAdditive(x)); })},
      {.name = "inverse_sqrt_published",
       .row = {"inverse square root as published", "`InverseSqrtPublished`", "element", section,
               As("bit decomposition, suffix or, bit to number, multiply, truncate, truncate a product"),
               error},
       .size = {.input_bits = 24},
       .positive = true,
       .cost = [](const Size& s) { return InverseSqrtPublishedCost(s.count, s.fraction_bits, s.rounding); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return InverseSqrtPublished(p, FixedShare(x, s.fraction_bits), s.rounding);
       })},
      {.name = "inverse_sqrt",
       .row = {"inverse square root", "`InverseSqrt`", "element", section,
               As("look-up by the leading bit ({form}), truncate a product"), error},
       .forms = kBoth,
       .size = {.input_bits = 24},
       .positive = true,
       .cost = [](const Size& s) { return InverseSqrtCost(s.count, s.fraction_bits, s.form, s.rounding); },
       .seconds = [](const Size& s) { return LeadingBitSeconds(s.form, s.count, 62, 64); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return InverseSqrt(p, FixedShare(x, s.fraction_bits), s.form, s.rounding);
       })},
  };
}

}  // namespace

std::vector<Entry> FunctionEntries() {
  return Joined({Maxima(), Polynomials(), Softmaxes(), Sigmoids(), InverseRoots()});
}

}  // namespace trefoil::protocols

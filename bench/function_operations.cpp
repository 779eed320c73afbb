#include "bench/function_operations.h"

#include "bench/prepare.h"
#include "mpc/fixed_point.h"
#include "protocols/cost_model.h"
#include "protocols/functions/clip_factor.h"
#include "protocols/functions/exponential.h"
#include "protocols/functions/inverse_sqrt.h"
#include "protocols/functions/maximum.h"
#include "protocols/functions/reciprocal.h"
#include "protocols/functions/relu.h"
#include "protocols/functions/sigmoid.h"
#include "protocols/functions/softmax.h"

namespace trefoil::bench {
namespace {

using mpc::ArithShare;
using mpc::Context;
using mpc::FixedShare;
using protocols::Form;

constexpr double kLogitBound = 64;
constexpr double kClip = 0.5;
constexpr double kSquaredNormBound = 20.2;  // ten classes, rows of norm 1 and a bias
constexpr int kSquaredNormBits = 48;
constexpr protocols::ReciprocalRange kReciprocalRange{-16, 8};

template <Form form>
Prepared PrepareLookUp(Context& party, const Point& point) {
  const protocols::PiecewisePolynomial table = EightLinearPieces();
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::LookUpCost(table, point.count, form),
      [table](Context& p, const ArithShare& x) { return protocols::LookUp(p, table, x, form); },
      protocols::ComparisonSeconds(form, point.count, static_cast<std::int64_t>(table.thresholds.size()),
                                   64));
}

template <Form form>
Prepared PrepareEvaluate(Context& party, const Point& point) {
  const protocols::PiecewisePolynomial function = EightLinearPieces();
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::EvaluateCost(function, point.count, form),
      [function](Context& p, const ArithShare& x) { return protocols::Evaluate(p, function, x, form); },
      protocols::ComparisonSeconds(form, point.count, static_cast<std::int64_t>(function.thresholds.size()),
                                   64));
}

template <Form form>
Prepared PrepareLookUpByLeadingBit(Context& party, const Point& point) {
  const protocols::LeadingBitTables tables = SixteenLeadingBits();
  return OnOne(
      RandomShare(party, point.count, 1, 23, true),
      protocols::LookUpByLeadingBitCost(tables, point.count, form),
      [tables](Context& p, const ArithShare& x) { return protocols::LookUpByLeadingBit(p, tables, x, form); },
      protocols::LeadingBitSeconds(form, point.count, 15, 25));
}

Prepared PrepareLookUpByLowBits(Context& party, const Point& point) {
  const protocols::SmallTables tables = TableOf256();
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::LookUpByLowBitsCost(tables, point.count),
      [tables](Context& p, const ArithShare& x) { return protocols::LookUpByLowBits(p, tables, x); });
}

Prepared PrepareInverseSqrtPublished(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, 1, 24, true),
               protocols::InverseSqrtPublishedCost(point.count, kFractionBits),
               [](Context& p, const ArithShare& x) {
                 return protocols::InverseSqrtPublished(p, FixedShare(x, kFractionBits));
               });
}

template <Form form>
Prepared PrepareInverseSqrt(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, 1, 24, true),
      protocols::InverseSqrtCost(point.count, kFractionBits, form),
      [](Context& p, const ArithShare& x) {
        return protocols::InverseSqrt(p, FixedShare(x, kFractionBits), form);
      },
      protocols::LeadingBitSeconds(form, point.count, 62, 64));
}

template <Form form>
Prepared PrepareClipFactor(Context& party, const Point& point) {
  const protocols::ClipTable table =
      protocols::MakeClipTable(kClip, kSquaredNormBound, kSquaredNormBits, form);
  return OnOne(
      RandomShare(party, point.count, 1, 52, true), protocols::ClipFactorCost(table, point.count),
      [table](Context& p, const ArithShare& x) { return protocols::ClipFactor(p, table, x); },
      protocols::ComparisonSeconds(
          form, point.count, static_cast<std::int64_t>(table.pieces.thresholds.size()), table.pieces.width));
}

Prepared PrepareSigmoid(Context& party, const Point& point) {
  const protocols::SigmoidSeries& series = protocols::SigmoidSeriesFor(kLogitBound);
  return OnOne(RandomShare(party, point.count, 1, 20),
               protocols::SigmoidCost(point.count, kFractionBits, series),
               [&series](Context& p, const ArithShare& x) {
                 return protocols::Sigmoid(p, FixedShare(x, kFractionBits), series);
               });
}

Prepared PrepareSigmoidOfProduct(Context& party, const Point& point) {
  const protocols::SigmoidSeries& series = protocols::SigmoidSeriesFor(kLogitBound);
  constexpr int kProductBits = 2 * kFractionBits;
  return OnOne(ToAdditive(RandomShare(party, point.count, 1, 36)),
               protocols::SigmoidOfProductCost(point.count, kProductBits, kFractionBits, series),
               [&series](Context& p, const mpc::AdditiveShare& x) {
                 return protocols::SigmoidOfProduct(p, x, kProductBits, kFractionBits, series);
               });
}

template <Form form>
Prepared PrepareExponential(Context& party, const Point& point) {
  const protocols::ExponentialTable table = protocols::MakeExponentialTable({});
  return OnOne(
      RandomShare(party, point.count, 1, 20), protocols::ExponentialCost(table, point.count, form),
      [table](Context& p, const ArithShare& x) {
        return protocols::Exponential(p, table, FixedShare(x, kFractionBits), form);
      },
      protocols::ComparisonSeconds(
          form, point.count, static_cast<std::int64_t>(table.pieces.thresholds.size()), table.pieces.width));
}

template <Form form>
Prepared PrepareReciprocal(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, 1, 24, true),
      protocols::ReciprocalCost(point.count, kFractionBits, kReciprocalRange, form),
      [](Context& p, const ArithShare& x) {
        return protocols::Reciprocal(p, FixedShare(x, kFractionBits), kReciprocalRange, form);
      },
      protocols::LeadingBitSeconds(form, point.count,
                                   kReciprocalRange.highest_log2 - kReciprocalRange.lowest_log2,
                                   kFractionBits + kReciprocalRange.highest_log2 + 2));
}

template <Form form>
Prepared PrepareRelu(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::ReluCost(point.count, 64, form),
      [](Context& p, const ArithShare& x) {
        return protocols::Relu(p, FixedShare(x, kFractionBits), 64, form);
      },
      protocols::ComparisonSeconds(form, point.count, 1, 64));
}

/// Of rows of ten.
template <Form form>
Prepared PrepareMaximum(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, kClasses, 60),
      protocols::RowMaximumCost(point.count, kClasses, 64, form),
      [](Context& p, const ArithShare& x) { return protocols::RowMaximum(p, x, 64, form); },
      protocols::ComparisonSeconds(form, point.count * (kClasses - 1), 1, 64));
}

/// Of rows of ten.
template <Form form>
Prepared PrepareArgMax(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, kClasses, 60),
      protocols::RowArgMaxCost(point.count, kClasses, 64, form),
      [](Context& p, const ArithShare& x) { return protocols::RowArgMax(p, x, 64, form); },
      protocols::ComparisonSeconds(form, point.count * (kClasses - 1), 1, 64));
}

/// Of rows of ten.
Prepared PrepareSoftmaxWith(Context& party, const Point& point, const protocols::SoftmaxOptions& options) {
  const protocols::SoftmaxTable table = protocols::MakeSoftmaxTable(options);
  const auto thresholds = static_cast<std::int64_t>(table.exponential.pieces.thresholds.size());
  return OnOne(
      RandomShare(party, point.count, kClasses, 20), protocols::SoftmaxCost(table, point.count),
      [table](Context& p, const ArithShare& x) {
        return protocols::Softmax(p, table, FixedShare(x, kFractionBits));
      },
      protocols::ComparisonSeconds(options.form, point.count * kClasses,
                                   thresholds + (options.logit_bound ? 0 : 1), 64));
}

template <Form form>
Prepared PrepareSoftmax(Context& party, const Point& point) {
  return PrepareSoftmaxWith(party, point, {.classes = kClasses, .form = form});
}

template <Form form>
Prepared PrepareBoundedSoftmax(Context& party, const Point& point) {
  return PrepareSoftmaxWith(party, point, {.classes = kClasses, .logit_bound = 8.0, .form = form});
}

}  // namespace

std::vector<Operation> FunctionOperations() {
  return {
      {"look_up", "bulk", false, PrepareLookUp<Form::kBulk>},
      {"look_up", "latency", false, PrepareLookUp<Form::kLatency>},
      {"evaluate", "bulk", false, PrepareEvaluate<Form::kBulk>},
      {"evaluate", "latency", false, PrepareEvaluate<Form::kLatency>},
      {"look_up_by_leading_bit", "bulk", false, PrepareLookUpByLeadingBit<Form::kBulk>},
      {"look_up_by_leading_bit", "latency", false, PrepareLookUpByLeadingBit<Form::kLatency>},
      {"look_up_by_low_bits", "latency", false, PrepareLookUpByLowBits},
      {"inverse_sqrt_published", "bulk", false, PrepareInverseSqrtPublished},
      {"inverse_sqrt", "bulk", false, PrepareInverseSqrt<Form::kBulk>},
      {"inverse_sqrt", "latency", false, PrepareInverseSqrt<Form::kLatency>},
      {"clip_factor", "bulk", false, PrepareClipFactor<Form::kBulk>},
      {"clip_factor", "latency", false, PrepareClipFactor<Form::kLatency>},
      {"sigmoid", "latency", false, PrepareSigmoid},
      {"sigmoid_of_product", "latency", false, PrepareSigmoidOfProduct},
      {"exp", "bulk", false, PrepareExponential<Form::kBulk>},
      {"exp", "latency", false, PrepareExponential<Form::kLatency>},
      {"reciprocal", "bulk", false, PrepareReciprocal<Form::kBulk>},
      {"reciprocal", "latency", false, PrepareReciprocal<Form::kLatency>},
      {"relu", "bulk", false, PrepareRelu<Form::kBulk>},
      {"relu", "latency", false, PrepareRelu<Form::kLatency>},
      {"maximum", "bulk", false, PrepareMaximum<Form::kBulk>},
      {"maximum", "latency", false, PrepareMaximum<Form::kLatency>},
      {"arg_max", "bulk", false, PrepareArgMax<Form::kBulk>},
      {"arg_max", "latency", false, PrepareArgMax<Form::kLatency>},
      {"softmax", "bulk", false, PrepareSoftmax<Form::kBulk>},
      {"softmax", "latency", false, PrepareSoftmax<Form::kLatency>},
      {"softmax_bounded", "bulk", false, PrepareBoundedSoftmax<Form::kBulk>},
      {"softmax_bounded", "latency", false, PrepareBoundedSoftmax<Form::kLatency>},
  };
}

}  // namespace trefoil::bench

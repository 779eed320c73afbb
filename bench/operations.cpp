#include "bench/operations.h"

#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "bench/step_operations.h"
#include "mpc/fixed_point.h"
#include "protocols/bit_conversion.h"
#include "protocols/clip_factor.h"
#include "protocols/cost_model.h"
#include "protocols/exponential.h"
#include "protocols/input.h"
#include "protocols/inverse_sqrt.h"
#include "protocols/maximum.h"
#include "protocols/multiply.h"
#include "protocols/reciprocal.h"
#include "protocols/relu.h"
#include "protocols/sigmoid.h"
#include "protocols/softmax.h"
#include "protocols/threshold_comparison.h"
#include "protocols/truncate.h"

namespace trefoil::bench {
namespace {

using mpc::ArithShare;
using mpc::Context;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using protocols::Form;
using protocols::Range;
using protocols::Rounding;

constexpr int kFractionBits = 16;
constexpr double kLogitBound = 64;
constexpr double kClip = 0.5;
constexpr double kSquaredNormBound = 20.2;  // ten classes, rows of norm 1 and a bias
constexpr int kSquaredNormBits = 48;
constexpr protocols::ReciprocalRange kReciprocalRange{-16, 8};
constexpr Index kClasses = 10;  // elements of a row, for operations on rows

/// Party 0 inputs random numbers of `bits` bits.
ArithShare RandomShare(Context& party, Index rows, Index cols, int bits, bool positive = false) {
  RingMatrix values;
  if (party.self() == 0) {
    RandomStream stream = RandomStream::FromSystem();
    values.resize(rows, cols);
    for (Index k = 0; k < values.size(); ++k) {
      const mpc::Word word = stream.NextWord() >> (63 - bits);
      values.data()[k] = positive ? (word >> 1) + 1 : word - (mpc::Word{1} << bits);
    }
  }
  return protocols::Input(party, 0, values, {rows, cols});
}

/// An operation on one vector.
template <typename Run>
Prepared OnOne(Context& party, ArithShare x, mpc::Cost declared, Run run, double compute_seconds = 0) {
  return {.run = [&party, x = std::move(x), run = std::move(run)] { (void)run(party, x); },
          .declared = declared,
          .compute_seconds = compute_seconds};
}

Prepared PrepareMultiply(Context& party, const Point& point) {
  const ArithShare y = RandomShare(party, point.count, 1, 40);
  return OnOne(party, RandomShare(party, point.count, 1, 20), protocols::MultiplyCost(point.count),
               [y](Context& p, const ArithShare& x) { return protocols::Multiply(p, x, y); });
}

template <Rounding rounding>
Prepared PrepareMultiplyTruncate(Context& party, const Point& point) {
  const ArithShare y = RandomShare(party, point.count, 1, 30);
  return OnOne(party, RandomShare(party, point.count, 1, 30),
               protocols::TruncateProductCost(point.count, kFractionBits, rounding),
               [y](Context& p, const ArithShare& x) {
                 return protocols::MultiplyTruncate(p, x, y, kFractionBits, Range::kSigned, rounding);
               });
}

template <Rounding rounding>
Prepared PrepareTruncate(Context& party, const Point& point) {
  return OnOne(party, RandomShare(party, point.count, 1, 60),
               protocols::TruncateCost(point.count, kFractionBits, rounding),
               [](Context& p, const ArithShare& x) {
                 return protocols::Truncate(p, x, kFractionBits, Range::kSigned, rounding);
               });
}

Prepared PrepareMatMul(Context& party, const Point& point) {
  const ProductShape shape = *point.shape;
  const ArithShare y = RandomShare(party, shape.inner, shape.cols, 20);
  return OnOne(party, RandomShare(party, shape.rows, shape.inner, 20),
               protocols::TruncateProductCost(shape.rows * shape.cols), [y](Context& p, const ArithShare& x) {
                 return protocols::MatMulTruncate(p, x, y, kFractionBits);
               });
}

Prepared PrepareCompare(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, 1, 60), protocols::MsbCost(point.count),
      [](Context& p, const ArithShare& x) { return protocols::LessThanZero(p, x); },
      protocols::ComparisonSeconds(Form::kBulk, point.count, 1, 64));
}

Prepared PrepareCompareByKey(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, 1, 60), protocols::BelowThresholdsCost(point.count, 1),
      [](Context& p, const ArithShare& x) { return protocols::BelowThresholds(p, x, {0}); },
      protocols::ComparisonSeconds(Form::kLatency, point.count, 1, 64));
}

Prepared PrepareBitDecompose(Context& party, const Point& point) {
  return OnOne(party, RandomShare(party, point.count, 1, 60), protocols::BitDecomposeCost(point.count),
               [](Context& p, const ArithShare& x) { return protocols::BitDecompose(p, x); });
}

Prepared PrepareInverseSqrtPublished(Context& party, const Point& point) {
  return OnOne(party, RandomShare(party, point.count, 1, 24, true),
               protocols::InverseSqrtPublishedCost(point.count, kFractionBits),
               [](Context& p, const ArithShare& x) {
                 return protocols::InverseSqrtPublished(p, FixedShare(x, kFractionBits));
               });
}

template <Form form>
Prepared PrepareInverseSqrt(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, 1, 24, true),
      protocols::InverseSqrtCost(point.count, kFractionBits, form),
      [](Context& p, const ArithShare& x) {
        return protocols::InverseSqrt(p, FixedShare(x, kFractionBits), form);
      },
      protocols::ComparisonSeconds(form, point.count, 62, 64));
}

template <Form form>
Prepared PrepareClipFactor(Context& party, const Point& point) {
  const protocols::ClipTable table =
      protocols::MakeClipTable(kClip, kSquaredNormBound, kSquaredNormBits, form);
  return OnOne(
      party, RandomShare(party, point.count, 1, 52, true), protocols::ClipFactorCost(table, point.count),
      [table](Context& p, const ArithShare& x) { return protocols::ClipFactor(p, table, x); },
      protocols::ComparisonSeconds(
          form, point.count, static_cast<std::int64_t>(table.pieces.thresholds.size()), table.pieces.width));
}

template <Form form, Rounding rounding = Rounding::kStochastic>
Prepared PrepareStep(Context& party, const Point& point) {
  return PrepareFactorisedStep(party, point, form, rounding);
}

Prepared PrepareSigmoid(Context& party, const Point& point) {
  const protocols::SigmoidSeries& series = protocols::SigmoidSeriesFor(kLogitBound);
  return OnOne(party, RandomShare(party, point.count, 1, 20),
               protocols::SigmoidCost(point.count, kFractionBits, series),
               [&series](Context& p, const ArithShare& x) {
                 return protocols::Sigmoid(p, FixedShare(x, kFractionBits), series);
               });
}

template <Form form>
Prepared PrepareExponential(Context& party, const Point& point) {
  const protocols::ExponentialTable table = protocols::MakeExponentialTable({});
  return OnOne(
      party, RandomShare(party, point.count, 1, 20), protocols::ExponentialCost(table, point.count, form),
      [table](Context& p, const ArithShare& x) {
        return protocols::Exponential(p, table, FixedShare(x, kFractionBits), form);
      },
      protocols::ComparisonSeconds(
          form, point.count, static_cast<std::int64_t>(table.pieces.thresholds.size()), table.pieces.width));
}

template <Form form>
Prepared PrepareReciprocal(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, 1, 24, true),
      protocols::ReciprocalCost(point.count, kFractionBits, kReciprocalRange, form),
      [](Context& p, const ArithShare& x) {
        return protocols::Reciprocal(p, FixedShare(x, kFractionBits), kReciprocalRange, form);
      },
      protocols::ComparisonSeconds(form, point.count,
                                   kReciprocalRange.highest_log2 - kReciprocalRange.lowest_log2,
                                   kFractionBits + kReciprocalRange.highest_log2 + 2));
}

template <Form form>
Prepared PrepareRelu(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, 1, 60), protocols::ReluCost(point.count, 64, form),
      [](Context& p, const ArithShare& x) {
        return protocols::Relu(p, FixedShare(x, kFractionBits), 64, form);
      },
      protocols::ComparisonSeconds(form, point.count, 1, 64));
}

/// Of rows of ten, with their maximum.
template <Form form>
Prepared PrepareSoftmax(Context& party, const Point& point) {
  const protocols::SoftmaxTable table = protocols::MakeSoftmaxTable({.classes = kClasses, .form = form});
  const auto thresholds = static_cast<std::int64_t>(table.exponential.pieces.thresholds.size());
  return OnOne(
      party, RandomShare(party, point.count, kClasses, 20), protocols::SoftmaxCost(table, point.count),
      [table](Context& p, const ArithShare& x) {
        return protocols::Softmax(p, table, FixedShare(x, kFractionBits));
      },
      protocols::ComparisonSeconds(form, point.count * kClasses, thresholds + 1, 64));
}

/// Of rows of ten.
template <Form form>
Prepared PrepareMaximum(Context& party, const Point& point) {
  return OnOne(
      party, RandomShare(party, point.count, kClasses, 60),
      protocols::RowMaximumCost(point.count, kClasses, 64, form),
      [](Context& p, const ArithShare& x) { return protocols::RowMaximum(p, x, 64, form); },
      protocols::ComparisonSeconds(form, point.count * (kClasses - 1), 1, 64));
}

}  // namespace

const std::vector<Operation>& AllOperations() {
  static const std::vector<Operation> kOperations = {
      {"multiply", "bulk", false, PrepareMultiply},
      {"multiply_truncate", "bulk", false, PrepareMultiplyTruncate<Rounding::kStochastic>},
      {"multiply_truncate_exact", "bulk", false, PrepareMultiplyTruncate<Rounding::kExact>},
      {"truncate", "bulk", false, PrepareTruncate<Rounding::kStochastic>},
      {"truncate_exact", "bulk", false, PrepareTruncate<Rounding::kExact>},
      {"matmul", "bulk", true, PrepareMatMul},
      {"compare", "bulk", false, PrepareCompare},
      {"compare", "latency", false, PrepareCompareByKey},
      {"bit_decompose", "bulk", false, PrepareBitDecompose},
      {"inverse_sqrt_published", "bulk", false, PrepareInverseSqrtPublished},
      {"inverse_sqrt", "bulk", false, PrepareInverseSqrt<Form::kBulk>},
      {"inverse_sqrt", "latency", false, PrepareInverseSqrt<Form::kLatency>},
      {"clip_factor", "bulk", false, PrepareClipFactor<Form::kBulk>},
      {"clip_factor", "latency", false, PrepareClipFactor<Form::kLatency>},
      {"sigmoid", "latency", false, PrepareSigmoid},
      {"exp", "bulk", false, PrepareExponential<Form::kBulk>},
      {"exp", "latency", false, PrepareExponential<Form::kLatency>},
      {"reciprocal", "bulk", false, PrepareReciprocal<Form::kBulk>},
      {"reciprocal", "latency", false, PrepareReciprocal<Form::kLatency>},
      {"relu", "bulk", false, PrepareRelu<Form::kBulk>},
      {"relu", "latency", false, PrepareRelu<Form::kLatency>},
      {"maximum", "bulk", false, PrepareMaximum<Form::kBulk>},
      {"maximum", "latency", false, PrepareMaximum<Form::kLatency>},
      {"softmax", "bulk", false, PrepareSoftmax<Form::kBulk>},
      {"softmax", "latency", false, PrepareSoftmax<Form::kLatency>},
      {"dpsgd_step", "bulk", true, PrepareStep<Form::kBulk>},
      {"dpsgd_step", "latency", true, PrepareStep<Form::kLatency>},
      {"dpsgd_step_exact", "bulk", true, PrepareStep<Form::kBulk, Rounding::kExact>},
      {"dpsgd_step_exact", "latency", true, PrepareStep<Form::kLatency, Rounding::kExact>},
      {"dpsgd_step_published", "bulk", true, PreparePublishedStep},
  };
  return kOperations;
}

}  // namespace trefoil::bench

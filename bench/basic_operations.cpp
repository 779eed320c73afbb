#include "bench/basic_operations.h"

#include <array>
#include <memory>

#include "bench/prepare.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/equality.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/cost_model.h"

namespace trefoil::bench {
namespace {

using mpc::ArithShare;
using mpc::BoolShare;
using mpc::Context;
using mpc::Index;
using mpc::RingMatrix;
using protocols::Form;
using protocols::Range;
using protocols::Rounding;

constexpr Index kBits = 64;  // of an element, for operations on bits

Prepared PrepareInput(Context& party, const Point& point) {
  const RingMatrix own = party.self() == 0 ? RandomNumbers(point.count, 1, 60) : RingMatrix();
  return OnOne(own, protocols::InputCost(0, point.count), [n = point.count](Context& p, const auto& x) {
    return protocols::Input(p, 0, x, {n, 1});
  });
}

Prepared PrepareInputEach(Context&, const Point& point) {
  const protocols::Shape shape{point.count, 1};
  const std::array<protocols::Shape, 3> shapes{shape, shape, shape};
  return OnOne(RandomNumbers(point.count, 1, 60), protocols::InputEachCost(shapes),
               [shapes](Context& p, const auto& x) { return protocols::InputEach(p, x, shapes); });
}

Prepared PrepareInputAhead(Context&, const Point& point) {
  const protocols::Shape shape{point.count, 1};
  const std::array<protocols::Shape, 3> shapes{shape, shape, shape};
  const auto inputs =
      std::make_shared<protocols::InputAhead>([n = point.count] { return RandomNumbers(n, 1, 60); }, shapes);
  return {.run = [inputs](Context& party) { (void)inputs->Next(party); },
          .declared = protocols::InputAheadCost(shapes)};
}

Prepared PrepareInputEachBits(Context&, const Point& point) {
  const std::array<Index, 3> counts{point.count, point.count, point.count};
  return OnOne(RandomBits(kBits, point.count), protocols::InputEachBitsCost(kBits, counts),
               [counts](Context& p, const auto& x) { return protocols::InputEachBits(p, x, kBits, counts); });
}

Prepared PrepareInputBits(Context&, const Point& point) {
  return OnOne(
      RandomBits(kBits, point.count), protocols::InputBitsCost(0, kBits, point.count),
      [n = point.count](Context& p, const auto& x) { return protocols::InputBits(p, 0, x, kBits, n); });
}

Prepared PrepareEqualEverywhere(Context&, const Point& point) {
  return OnOne(RandomBits(kBits, point.count), protocols::EqualEverywhereCost(kBits, point.count),
               [](Context& p, const auto& x) { return protocols::EqualEverywhere(p, x); });
}

Prepared PrepareReveal(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, 1, 60), protocols::RevealCost(point.count),
               [](Context& p, const ArithShare& x) {
                 return protocols::Reveal(p, x, protocols::ReleaseReason::kMeasurement);
               });
}

Prepared PrepareRevealTo(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, 1, 60), protocols::RevealToCost(0, point.count),
               [](Context& p, const ArithShare& x) {
                 return protocols::RevealTo(p, 0, x, protocols::ReleaseReason::kMeasurement);
               });
}

Prepared PrepareRevealBits(Context& party, const Point& point) {
  return OnOne(RandomBitShare(party, kBits, point.count), protocols::RevealBitsCost(kBits, point.count),
               [](Context& p, const BoolShare& x) {
                 return protocols::RevealBits(p, x, protocols::ReleaseReason::kMeasurement);
               });
}

Prepared PrepareReshare(Context& party, const Point& point) {
  return OnOne(ToAdditive(RandomShare(party, point.count, 1, 60)), protocols::ReshareCost(point.count),
               [](Context& p, const mpc::AdditiveShare& x) { return protocols::Reshare(p, x); });
}

Prepared PrepareMultiply(Context& party, const Point& point) {
  const ArithShare y = RandomShare(party, point.count, 1, 40);
  return OnOne(RandomShare(party, point.count, 1, 20), protocols::MultiplyCost(point.count),
               [y](Context& p, const ArithShare& x) { return protocols::Multiply(p, x, y); });
}

Prepared PrepareAnd(Context& party, const Point& point) {
  const BoolShare y = RandomBitShare(party, kBits, point.count);
  return OnOne(RandomBitShare(party, kBits, point.count), protocols::AndCost(kBits, point.count),
               [y](Context& p, const BoolShare& x) { return protocols::And(p, x, y); });
}

template <Rounding rounding>
Prepared PrepareMultiplyTruncate(Context& party, const Point& point) {
  const ArithShare y = RandomShare(party, point.count, 1, 30);
  return OnOne(RandomShare(party, point.count, 1, 30),
               protocols::TruncateProductCost(point.count, kFractionBits, rounding),
               [y](Context& p, const ArithShare& x) {
                 return protocols::MultiplyTruncate(p, x, y, kFractionBits, Range::kSigned, rounding);
               });
}

template <Rounding rounding>
Prepared PrepareTruncate(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, 1, 60),
               protocols::TruncateCost(point.count, kFractionBits, rounding),
               [](Context& p, const ArithShare& x) {
                 return protocols::Truncate(p, x, kFractionBits, Range::kSigned, rounding);
               });
}

Prepared PrepareMatMul(Context& party, const Point& point) {
  const ProductShape shape = *point.shape;
  const ArithShare y = RandomShare(party, shape.inner, shape.cols, 20);
  return OnOne(RandomShare(party, shape.rows, shape.inner, 20),
               protocols::TruncateProductCost(shape.rows * shape.cols), [y](Context& p, const ArithShare& x) {
                 return protocols::MatMulTruncate(p, x, y, kFractionBits);
               });
}

/// The product with all its digits, modulo 2^64.
Prepared PrepareMatMulWide(Context& party, const Point& point) {
  const ProductShape shape = *point.shape;
  const ArithShare y = RandomShare(party, shape.inner, shape.cols, 20);
  return OnOne(RandomShare(party, shape.rows, shape.inner, 20), protocols::MatMulCost(shape.rows, shape.cols),
               [y](Context& p, const ArithShare& x) { return protocols::MatMul(p, x, y); });
}

Prepared PrepareCompare(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::MsbCost(point.count),
      [](Context& p, const ArithShare& x) { return protocols::LessThanZero(p, x); },
      protocols::ComparisonSeconds(Form::kBulk, point.count, 1, 64));
}

Prepared PrepareCompareByKey(Context& party, const Point& point) {
  return OnOne(
      RandomShare(party, point.count, 1, 60), protocols::BelowThresholdsCost(point.count, 1),
      [](Context& p, const ArithShare& x) { return protocols::BelowThresholds(p, x, {0}); },
      protocols::ComparisonSeconds(Form::kLatency, point.count, 1, 64));
}

Prepared PrepareBitDecompose(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, 1, 60), protocols::BitDecomposeCost(point.count),
               [](Context& p, const ArithShare& x) { return protocols::BitDecompose(p, x); });
}

Prepared PrepareSuffixOr(Context& party, const Point& point) {
  return OnOne(RandomBitShare(party, kBits, point.count), protocols::SuffixOrCost(kBits, point.count),
               [](Context& p, const BoolShare& x) { return protocols::SuffixOr(p, x); });
}

Prepared PrepareBitToArith(Context& party, const Point& point) {
  return OnOne(RandomBitShare(party, 1, point.count), protocols::BitToArithCost(1, point.count),
               [](Context& p, const BoolShare& x) { return protocols::BitToArith(p, x); });
}

Prepared PrepareBitTimes(Context& party, const Point& point) {
  const BoolShare bits = RandomBitShare(party, 1, point.count);
  return OnOne(RandomShare(party, point.count, 1, 60), protocols::BitTimesCost(point.count),
               [bits](Context& p, const ArithShare& x) { return protocols::BitTimes(p, bits, x); });
}

}  // namespace

std::vector<Operation> BasicOperations() {
  return {
      {"input", "bulk", false, PrepareInput},
      {"input_each", "bulk", false, PrepareInputEach},
      {"input_ahead", "bulk", false, PrepareInputAhead},
      {"input_bits", "bulk", false, PrepareInputBits},
      {"input_each_bits", "bulk", false, PrepareInputEachBits},
      {"reveal", "bulk", false, PrepareReveal},
      {"reveal_to", "bulk", false, PrepareRevealTo},
      {"reveal_bits", "bulk", false, PrepareRevealBits},
      {"reshare", "bulk", false, PrepareReshare},
      {"multiply", "bulk", false, PrepareMultiply},
      {"and", "bulk", false, PrepareAnd},
      {"equal_everywhere", "bulk", false, PrepareEqualEverywhere},
      {"multiply_truncate", "bulk", false, PrepareMultiplyTruncate<Rounding::kStochastic>},
      {"multiply_truncate_exact", "bulk", false, PrepareMultiplyTruncate<Rounding::kExact>},
      {"truncate", "bulk", false, PrepareTruncate<Rounding::kStochastic>},
      {"truncate_exact", "bulk", false, PrepareTruncate<Rounding::kExact>},
      {"matmul", "bulk", true, PrepareMatMul},
      {"matmul_wide", "bulk", true, PrepareMatMulWide},
      {"compare", "bulk", false, PrepareCompare},
      {"compare", "latency", false, PrepareCompareByKey},
      {"bit_decompose", "bulk", false, PrepareBitDecompose},
      {"suffix_or", "bulk", false, PrepareSuffixOr},
      {"bit_to_arith", "bulk", false, PrepareBitToArith},
      {"bit_times", "bulk", false, PrepareBitTimes},
  };
}

}  // namespace trefoil::bench

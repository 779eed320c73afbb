#include "all_protocols.h"

#include <map>
#include <ostream>

#include "mpc/parallel.h"
#include "mpc/prss.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/equality.h"
#include "protocols/comparison/leading_bit.h"
#include "protocols/comparison/small_table.h"
#include "protocols/comparison/threshold_comparison.h"
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
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Context;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kScale = 16;

int secret_component = 0;  // of trivial sharings

Output Of(ArithShare share) { return {.arith = {std::move(share)}, .bits = {}}; }
Output Of(BoolShare share) { return {.arith = {}, .bits = {std::move(share)}}; }
Output Of(const FixedShare& share) { return Of(share.ring()); }

/// A quadratic between two thresholds.
PiecewisePolynomial SomePolynomial() {
  return {.thresholds = {-5000, 70000},
          .coefficients = {{1, 2, 3}, {-40000, 500, 600}, {7, 80000, -9}},
          .input_bits = kScale,
          .last_shift = kScale,
          .width = 40};
}

SoftmaxTable SmallSoftmaxWithMaximum(Form form) {
  return MakeSoftmaxTable({.classes = 2, .frac_bits = 8, .width = 20, .form = form});
}

/// For protocols that deal comparison function keys, which take up to some kilobytes each.
void LimitSamples(std::vector<ProtocolCase>& cases) {
  for (ProtocolCase& protocol : cases) protocol.sample = 1024;
}

std::vector<ProtocolCase> MakeMultiplications() {
  return {
      {"Reshare",
       [](Context& party, Index n, Word x) { return Of(Reshare(party, ToAdditive(Trivial(party, x, n)))); }},
      {"Multiply", [](Context& party, Index n,
                      Word x) { return Of(Multiply(party, Trivial(party, x, n), Trivial(party, 3, n))); }},
      {"MatMul", [](Context& party, Index n,
                    Word x) { return Of(MatMul(party, Trivial(party, x, n, 3), Trivial(party, 5, 3, 2))); }},
      {"And",
       [](Context& party, Index n, Word x) {
         return Of(And(party, TrivialBits(party, x, 9, n), TrivialBits(party, 0x155, 9, n)));
       }},
      {"Parallel",
       [](Context& party, Index n, Word x) {
         const auto product = [&](Context& branch) {
           return Multiply(branch, Trivial(branch, x, n), Trivial(branch, 3, n));
         };
         const auto both = mpc::Parallel(party, product, product);
         return Of(Stacked(both.first, both.second));
       }},
  };
}

std::vector<ProtocolCase> MakeTruncations() {
  return {
      {"Truncate",
       [](Context& party, Index n, Word x) { return Of(Truncate(party, Trivial(party, x, n), 7)); }},
      {"TruncateNonNegative",
       [](Context& party, Index n, Word x) {
         return Of(Truncate(party, Trivial(party, x, n), 7, Range::kNonNegative));
       }},
      {"TruncateAdditive", [](Context& party, Index n,
                              Word x) { return Of(Truncate(party, ToAdditive(Trivial(party, x, n)), 7)); }},
      {"MultiplyTruncate",
       [](Context& party, Index n, Word x) {
         return Of(MultiplyTruncate(party, Trivial(party, x, n), Trivial(party, 77, n), 9));
       }},
      {"MatMulTruncate",
       [](Context& party, Index n, Word x) {
         return Of(MatMulTruncate(party, Trivial(party, x, n, 3), Trivial(party, 5, 3, 2), 4));
       }},
  };
}

/// Those that truncate, with exact rounding.
std::vector<ProtocolCase> MakeExactForms() {
  std::vector<ProtocolCase> cases = {
      {"TruncateExact",
       [](Context& party, Index n, Word x) {
         return Of(Truncate(party, Trivial(party, x, n), 7, Range::kSigned, Rounding::kExact));
       }},
      {"TruncateNonNegativeExact",
       [](Context& party, Index n, Word x) {
         return Of(Truncate(party, Trivial(party, x, n), 33, Range::kNonNegative, Rounding::kExact));
       }},
      {"MultiplyTruncateExact",
       [](Context& party, Index n, Word x) {
         return Of(MultiplyTruncate(party, Trivial(party, x, n), Trivial(party, 77, n), 9, Range::kSigned,
                                    Rounding::kExact));
       }},
      {"MatMulTruncateExact",
       [](Context& party, Index n, Word x) {
         return Of(
             MatMulTruncate(party, Trivial(party, x, n, 3), Trivial(party, 5, 3, 2), 4, Rounding::kExact));
       }},
      {"SigmoidExact",
       [](Context& party, Index n, Word x) {
         const FixedShare share(Trivial(party, x, n), kScale);
         return Of(Sigmoid(party, share, SigmoidSeriesFor(8), Rounding::kExact));
       }},
      {"ClipFactorExact",
       [](Context& party, Index n, Word x) {
         const ClipTable table = MakeClipTable(0.5, 8, 40, Form::kBulk, Rounding::kExact);
         return Of(ClipFactor(party, table, Trivial(party, x, n)));
       }},
      {"InverseSqrtExact",
       [](Context& party, Index n, Word x) {
         const FixedShare share(Trivial(party, x, n), kScale);
         return Of(InverseSqrt(party, share, Form::kLatency, Rounding::kExact));
       }},
  };
  LimitSamples(cases);
  return cases;
}

std::vector<ProtocolCase> MakeConversions() {
  return {
      {"Msb", [](Context& party, Index n, Word x) { return Of(Msb(party, Trivial(party, x, n))); }},
      {"LessThan",
       [](Context& party, Index n, Word x) {
         return Of(LessThan(party, Trivial(party, x, n), Trivial(party, 1000, n), 24));
       }},
      {"BitToArith",
       [](Context& party, Index n, Word x) { return Of(BitToArith(party, TrivialBits(party, x, 3, n))); }},
      {"BitTimes",
       [](Context& party, Index n, Word x) {
         return Of(BitTimes(party, TrivialBits(party, x, 1, n), Trivial(party, x, n)));
       }},
      {"Select",
       [](Context& party, Index n, Word x) {
         return Of(Select(party, TrivialBits(party, x, 1, n), Trivial(party, x, n), Trivial(party, 4, n)));
       }},
  };
}

Output Of(const ReluResult& result) { return Of(Stacked(result.values.ring(), result.positive)); }

std::vector<ProtocolCase> MakeSelections() {
  return {
      {"Relu", [](Context& party, Index n,
                  Word x) { return Of(Relu(party, FixedShare(Trivial(party, x, n), kScale))); }},
      {"RowMaximum",
       [](Context& party, Index n, Word x) { return Of(RowMaximum(party, Trivial(party, x, n, 3), 40)); }},
      {"RowArgMax",
       [](Context& party, Index n, Word x) { return Of(RowArgMax(party, Trivial(party, x, n, 4), 40)); }},
  };
}

std::vector<ProtocolCase> MakeFunctions() {
  return {
      {"Sigmoid",
       [](Context& party, Index n, Word x) {
         return Of(Sigmoid(party, FixedShare(Trivial(party, x, n), kScale), SigmoidSeriesFor(8)));
       }},
      {"SigmoidOfProduct",
       [](Context& party, Index n, Word x) {
         return Of(SigmoidOfProduct(party, ToAdditive(Trivial(party, x, n)), 2 * kScale, kScale,
                                    SigmoidSeriesFor(8)));
       }},
      {"Evaluate", [](Context& party, Index n,
                      Word x) { return Of(Evaluate(party, SomePolynomial(), Trivial(party, x, n))); }},
      {"Exponential",
       [](Context& party, Index n, Word x) {
         return Of(Exponential(party, MakeExponentialTable({}), FixedShare(Trivial(party, x, n), kScale)));
       }},
      {"LookUpByLeadingBit",
       [](Context& party, Index n, Word x) {
         return Of(LookUpByLeadingBit(party, {.lowest = 3, .tables = {{5, 6, 9}, {1, 2, 7}}},
                                      Trivial(party, x, n)));
       }},
      {"LookUpByLowBits",
       [](Context& party, Index n, Word x) {
         return Of(LookUpByLowBits(party, {.bits = 2, .tables = {{5, 6, 9, 3}, {1, 2, 7, 8}}},
                                   Trivial(party, x, n)));
       }},
      {"Reciprocal",
       [](Context& party, Index n, Word x) {
         return Of(Reciprocal(party, FixedShare(Trivial(party, x, n), kScale), {-4, 12}));
       }},
      {"Softmax",
       [](Context& party, Index n, Word x) {
         const SoftmaxTable table =
             MakeSoftmaxTable({.classes = 2, .frac_bits = 8, .logit_bound = 0.25, .width = 20});
         return Of(Softmax(party, table, FixedShare(Trivial(party, x, n, 2), 8)));
       }},
      {"SoftmaxWithMaximum",
       [](Context& party, Index n, Word x) {
         return Of(
             Softmax(party, SmallSoftmaxWithMaximum(Form::kBulk), FixedShare(Trivial(party, x, n, 2), 8)));
       }},
      {"ClipFactor",
       [](Context& party, Index n, Word x) {
         return Of(ClipFactor(party, MakeClipTable(0.5, 8, 40), Trivial(party, x, n)));
       }},
      {"InverseSqrtPublished",
       [](Context& party, Index n, Word x) {
         return Of(InverseSqrtPublished(party, FixedShare(Trivial(party, x, n), kScale)));
       }},
      {"InverseSqrt",
       [](Context& party, Index n, Word x) {
         return Of(InverseSqrt(party, FixedShare(Trivial(party, x, n), kScale)));
       }},
  };
}

/// Those that have a latency form, in it.
std::vector<ProtocolCase> MakeLatencyForms() {
  std::vector<ProtocolCase> cases = {
      {"BelowThresholds",
       [](Context& party, Index n, Word x) {
         return Of(BelowThresholds(party, Trivial(party, x, n), {-5000, 70000, 100000}, 40));
       }},
      {"EvaluateLatency",
       [](Context& party, Index n, Word x) {
         return Of(Evaluate(party, SomePolynomial(), Trivial(party, x, n), Form::kLatency));
       }},
      {"ExponentialLatency",
       [](Context& party, Index n, Word x) {
         return Of(Exponential(party, MakeExponentialTable({}), FixedShare(Trivial(party, x, n), kScale),
                               Form::kLatency));
       }},
      {"ReciprocalLatency",
       [](Context& party, Index n, Word x) {
         return Of(Reciprocal(party, FixedShare(Trivial(party, x, n), kScale), {-4, 12}, Form::kLatency));
       }},
      {"SoftmaxLatency",
       [](Context& party, Index n, Word x) {
         const SoftmaxTable table = MakeSoftmaxTable(
             {.classes = 2, .frac_bits = 8, .logit_bound = 0.25, .width = 20, .form = Form::kLatency});
         return Of(Softmax(party, table, FixedShare(Trivial(party, x, n, 2), 8)));
       }},
      {"SoftmaxWithMaximumLatency",
       [](Context& party, Index n, Word x) {
         return Of(
             Softmax(party, SmallSoftmaxWithMaximum(Form::kLatency), FixedShare(Trivial(party, x, n, 2), 8)));
       }},
      {"ClipFactorLatency",
       [](Context& party, Index n, Word x) {
         return Of(ClipFactor(party, MakeClipTable(0.5, 8, 40, Form::kLatency), Trivial(party, x, n)));
       }},
      {"ReluLatency",
       [](Context& party, Index n, Word x) {
         return Of(Relu(party, FixedShare(Trivial(party, x, n), kScale), 40, Form::kLatency));
       }},
      {"RowMaximumLatency",
       [](Context& party, Index n, Word x) {
         return Of(RowMaximum(party, Trivial(party, x, n, 3), 40, Form::kLatency));
       }},
      {"RowArgMaxLatency",
       [](Context& party, Index n, Word x) {
         return Of(RowArgMax(party, Trivial(party, x, n, 3), 40, Form::kLatency));
       }},
      {"InverseSqrtLatency",
       [](Context& party, Index n, Word x) {
         return Of(InverseSqrt(party, FixedShare(Trivial(party, x, n), kScale), Form::kLatency));
       }},
  };
  LimitSamples(cases);
  return cases;
}

/// For those whose range is not all of |x| < 2^61.
void SetExtremes(std::vector<ProtocolCase>& cases) {
  const std::map<std::string, std::array<Word, 2>> extremes = {
      {"MultiplyTruncate", {0, (Word{1} << 55) - 1}},
      {"MatMulTruncate", {0, (Word{1} << 58) - 1}},
      {"MultiplyTruncateExact", {0, (Word{1} << 55) - 1}},
      {"MatMulTruncateExact", {0, (Word{1} << 58) - 1}},
      {"LessThan", {0, (Word{1} << 22) - 1}},
      {"ReluLatency", {0, (Word{1} << 39) - 1}},
      {"LookUpByLeadingBit", {0, 63}},
      {"Reciprocal", {Word{1} << 12, (Word{1} << 28) - 1}},
      {"ReciprocalLatency", {Word{1} << 12, (Word{1} << 28) - 1}},
      {"Softmax", {0, (Word{1} << 17) - 1}},
      {"SoftmaxLatency", {0, (Word{1} << 17) - 1}},
      {"SoftmaxWithMaximum", {0, (Word{1} << 17) - 1}},
      {"SoftmaxWithMaximumLatency", {0, (Word{1} << 17) - 1}},
      {"BelowThresholds", {0, (Word{1} << 38) - 1}},
      {"Evaluate", {0, (Word{1} << 30) - 1}},
      {"EvaluateLatency", {0, (Word{1} << 30) - 1}},
      {"ClipFactor", {0, Word{1} << 43}},
      {"ClipFactorLatency", {0, Word{1} << 43}},
      {"InverseSqrtPublished", {1, (Word{1} << 63) - 1}},
      {"InverseSqrt", {1, (Word{1} << 63) - 1}},
      {"InverseSqrtLatency", {1, (Word{1} << 63) - 1}},
  };
  for (ProtocolCase& protocol : cases) {
    const auto at = extremes.find(protocol.name);
    if (at != extremes.end()) protocol.extremes = at->second;
  }
}

void Append(std::vector<ProtocolCase>& all, const std::vector<ProtocolCase>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

ScopedSecretComponent::ScopedSecretComponent(int component) { secret_component = component; }
ScopedSecretComponent::~ScopedSecretComponent() { secret_component = 0; }

ArithShare Trivial(const Context& party, Word value, Index rows, Index cols) {
  const RingMatrix zero = RingMatrix::Zero(rows, cols);
  const RingMatrix all = RingMatrix::Constant(rows, cols, value);
  return {party.self() == secret_component ? all : zero, party.next() == secret_component ? all : zero};
}

BoolShare TrivialBits(const Context& party, Word value, Index planes, Index count) {
  const BitMatrix zero(planes, count);
  const BitMatrix bits = mpc::ToPlanes(RingMatrix::Constant(count, 1, value), static_cast<int>(planes));
  return {party.self() == secret_component ? bits : zero, party.next() == secret_component ? bits : zero};
}

const std::vector<ProtocolCase>& FreshSharings() {
  static const std::vector<ProtocolCase> kCases = [] {
    std::vector<ProtocolCase> cases = MakeMultiplications();
    Append(cases, MakeTruncations());
    Append(cases, MakeExactForms());
    Append(cases, MakeConversions());
    Append(cases, MakeSelections());
    Append(cases, MakeFunctions());
    Append(cases, MakeLatencyForms());
    SetExtremes(cases);
    return cases;
  }();
  return kCases;
}

const std::vector<ProtocolCase>& DesignedSharings() {
  static const std::vector<ProtocolCase> kCases = {
      {"InputEach",
       [](Context& party, Index n, Word x) {
         const std::array<ArithShare, 3> shares =
             InputEach(party, RingMatrix::Constant(n, 1, x), {Shape{n, 1}, Shape{n, 1}, Shape{n, 1}});
         return Output{.arith = {shares.begin(), shares.end()}, .bits = {}};
       }},
      {"InputAhead",
       [](Context& party, Index n, Word x) {
         InputAhead inputs([n, x] { return RingMatrix::Constant(n, 1, x); },
                           {Shape{n, 1}, Shape{n, 1}, Shape{n, 1}});
         const std::array<ArithShare, 3> shares = inputs.Next(party);
         return Output{.arith = {shares.begin(), shares.end()}, .bits = {}};
       }},
      {"InputBits",
       [](Context& party, Index n, Word x) {
         Output output;
         const BitMatrix own = mpc::ToPlanes(RingMatrix::Constant(n, 1, x), 9);
         for (int owner = 0; owner < 3; ++owner) output.bits.push_back(InputBits(party, owner, own, 9, n));
         return output;
       }},
      {"InputEachBits",
       [](Context& party, Index n, Word x) {
         const auto shares =
             InputEachBits(party, mpc::ToPlanes(RingMatrix::Constant(n, 1, x), 9), 9, {n, n, n});
         return Output{.arith = {}, .bits = {shares.begin(), shares.end()}};
       }},
      {"EqualEverywhere",
       [](Context& party, Index n, Word x) {
         return Of(EqualEverywhere(party, mpc::ToPlanes(RingMatrix::Constant(n, 1, x), 9)));
       }},
      {"BitDecompose",
       [](Context& party, Index n, Word x) { return Of(BitDecompose(party, Trivial(party, x, n), 20)); }},
      {"SuffixOr",
       [](Context& party, Index n, Word x) { return Of(SuffixOr(party, TrivialBits(party, x, 20, n))); }},
  };
  return kCases;
}

const std::vector<ProtocolCase>& OtherProtocols() {
  static const std::vector<ProtocolCase> kCases = {
      {"Reveal",
       [](Context& party, Index n, Word x) {
         (void)Reveal(party, Trivial(party, x, n), ReleaseReason::kTest);
         return Output{};
       }},
      {"RevealTo",
       [](Context& party, Index n, Word x) {
         for (int receiver = 0; receiver < 3; ++receiver)
           (void)RevealTo(party, receiver, Trivial(party, x, n), ReleaseReason::kTest);
         return Output{};
       }},
      {"RevealBits",
       [](Context& party, Index n, Word x) {
         (void)RevealBits(party, TrivialBits(party, x, 9, n), ReleaseReason::kTest);
         return Output{};
       }},
      {"RequireSameEverywhere",
       [](Context& party, Index, Word) {
         RequireSameEverywhere(party, "text", "constants");
         return Output{};
       }},
      {"ExchangeTexts",
       [](Context& party, Index, Word) {
         // Of whole words, as the checks of views want them.
         (void)ExchangeTexts(party, "party  " + std::to_string(party.self()), 100);
         return Output{};
       }},
      {"JointSeed",
       [](Context& party, Index, Word) {
         (void)JointSeed(party);
         return Output{};
       }},
      {"RequireSharesOfOne",
       [](Context& party, Index n, Word x) {
         const ArithShare share = Trivial(party, x, n);
         RequireSharesOfOne(party, {&share}, {.common = "run", .what = "share", .remedy = "expected one"});
         return Output{};
       }},
      {"AgreeOnKeys",
       [](Context& party, Index, Word) {
         (void)mpc::AgreeOnKeys(party.transport(), "ab");
         return Output{};
       }},
  };
  return kCases;
}

std::vector<ProtocolCase> AllProtocols() {
  std::vector<ProtocolCase> all = FreshSharings();
  Append(all, DesignedSharings());
  Append(all, OtherProtocols());
  return all;
}

std::string CaseName(const ProtocolCase& protocol) { return protocol.name; }
void PrintTo(const ProtocolCase& protocol, std::ostream* out) { *out << protocol.name; }

}  // namespace trefoil::protocols

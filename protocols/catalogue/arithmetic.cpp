#include <memory>

#include "mpc/prss.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/lift.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/catalogue/catalogue.h"
#include "protocols/cost_model.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Context;
using mpc::Index;
using mpc::RingMatrix;

constexpr Index kBitsOfElement = 64 * Size{}.count;
constexpr const char* kAraki = "Araki 2016, 3";

std::array<Shape, 3> OneEach(const Size& s) {
  const Shape shape{s.count, 1};
  return {shape, shape, shape};
}

mpc::NarrowColumns NarrowOf(const Size& s) { return {.columns = 1, .width = s.width}; }

std::array<Index, 3> ItemsEach(const Size& s) { return {s.count, s.count, s.count}; }

/// The same values for each run.
InputAhead::Make RowsOf(RingMatrix values) {
  return [own = std::move(values)](Index first, Index count) -> RingMatrix {
    return own.middleRows(first, count);
  };
}

/// Without an input.
constexpr auto kNothing = [](Context&, Inputs&, const Size&) { return 0; };
constexpr auto kOwn = [](Context&, Inputs& inputs, const Size& s) { return inputs.Own(s.count, 1); };
constexpr auto kOwnBits = [](Context&, Inputs& inputs, const Size& s) {
  return inputs.OwnBits(s.width, s.count);
};
/// Of party 0 alone.
constexpr auto kOwnOfFirst = [](Context& p, Inputs& inputs, const Size& s) {
  return p.self() == 0 ? inputs.Own(s.count, 1) : RingMatrix();
};
constexpr auto kFactors = [](Context&, Inputs& inputs, const Size& s) {
  return std::pair{inputs.Numbers(s.count, 1), inputs.Numbers(s.count, 1)};
};
constexpr auto kMatrices = [](Context&, Inputs& inputs, const Size& s) {
  return std::pair{inputs.Numbers(s.count, s.inner), inputs.Numbers(s.inner, s.columns)};
};

std::vector<Entry> InputEntries() {
  const std::string section = Section("Input, reveal, multiply, AND");
  return {
      {.name = "input",
       .row = {"input by P0", "`Input`", "element", section, "P1 gets x − F_0: uniform; P2 nothing"},
       .cost = [](const Size& s) { return InputCost(0, s.count); },
       .prepare = On(kOwnOfFirst,
                     [](Context& p, const RingMatrix& own, const Size& s) {
                       return Input(p, 0, own, {s.count, 1});
                     })},
      {.name = "input_each",
       .row = {"input by all", "`InputEach`", "element of each", section, "as input"},
       .cost = [](const Size& s) { return InputEachCost(OneEach(s)); },
       .prepare = On(kOwn, [](Context& p, const RingMatrix& own,
                              const Size& s) { return InputEach(p, own, OneEach(s)); })},
      {.name = "input_sum",
       .row = {"sum of all inputs", "`InputSum`", "element", section, "as input"},
       .cost = [](const Size& s) { return InputSumCost(s.count); },
       .prepare = On(kOwn, [](Context& p, const RingMatrix& own, const Size&) { return InputSum(p, own); })},
      {.name = "input_ahead",
       .row = {"input by all, ahead", "`InputAhead`", "element of each", section,
               "P_{j-1} gets x − F_{j+1}: uniform; P_{j+1} nothing"},
       .cost = [](const Size& s) { return InputAheadCost(OneEach(s)); },
       .prepare = On(
           [](Context&, Inputs& inputs, const Size& s) {
             return std::make_shared<InputAhead>(RowsOf(inputs.Own(s.count, 1)), OneEach(s));
           },
           [](Context& p, const auto& ahead, const Size&) { return ahead->Next(p); })},
      {.name = "input_ahead_narrow",
       .row = {"the same, modulo 2^40", "`InputAhead`", "element of each", section,
               "P_{j-1} gets x − F_{j+1} modulo 2^40: uniform; P_{j+1} nothing"},
       .size = {.width = 40},
       .cost = [](const Size& s) { return InputAheadCost(OneEach(s), NarrowOf(s)); },
       .prepare = On(
           [](Context&, Inputs& inputs, const Size& s) {
             return std::make_shared<InputAhead>(RowsOf(inputs.Own(s.count, 1)), OneEach(s), NarrowOf(s));
           },
           [](Context& p, const auto& ahead, const Size&) { return ahead->Next(p); })},
      {.name = "input_bits",
       .row = {"input of bits by P0", "`InputBits`", "bit", section, "as input", kExact, kBitsOfElement},
       .cost = [](const Size& s) { return InputBitsCost(0, s.width, s.count); },
       .prepare = On(kOwnBits, [](Context& p, const BitMatrix& own,
                                  const Size& s) { return InputBits(p, 0, own, s.width, s.count); })},
      {.name = "input_each_bits",
       .row = {"input of bits by all", "`InputEachBits`", "bit of each", section, "as input", kExact,
               kBitsOfElement},
       .cost = [](const Size& s) { return InputEachBitsCost(s.width, ItemsEach(s)); },
       .prepare = On(kOwnBits, [](Context& p, const BitMatrix& own,
                                  const Size& s) { return InputEachBits(p, own, s.width, ItemsEach(s)); })},
  };
}

std::vector<Entry> RevealEntries() {
  return {
      {.name = "reveal",
       .row = {"reveal to all", "`Reveal`", "element", kAraki, "the value, which is the purpose"},
       .cost = [](const Size& s) { return RevealCost(s.count); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size&) {
         return Reveal(p, x, ReleaseReason::kMeasurement);
       })},
      {.name = "reveal_to",
       .row = {"reveal to P0", "`RevealTo`", "element", kAraki, "P0 the value; the others nothing"},
       .cost = [](const Size& s) { return RevealToCost(0, s.count); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size&) {
         return RevealTo(p, 0, x, ReleaseReason::kMeasurement);
       })},
      {.name = "reveal_to_each",
       .row = {"reveal to P0 and P1", "`RevealToEach`", "element", kAraki, "P0 and P1 the value; P2 nothing"},
       .cost =
           [](const Size& s) {
             return RevealToEachCost({0, 1}, s.count);
           },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size&) {
         return RevealToEach(p, {0, 1}, x, ReleaseReason::kMeasurement);
       })},
      {.name = "reveal_bits",
       .row = {"reveal bits", "`RevealBits`", "bit", kAraki, "the bits, which is the purpose", kExact,
               kBitsOfElement},
       .cost = [](const Size& s) { return RevealBitsCost(s.width, s.count); },
       .prepare = OnBits([](Context& p, const BoolShare& x, const Size&) {
         return RevealBits(p, x, ReleaseReason::kMeasurement);
       })},
  };
}

std::vector<Entry> ProductEntries() {
  return {
      {.name = "reshare",
       .row = {"re-share", "`Reshare`", "element", kAraki, kSeesReshare},
       .cost = [](const Size& s) { return ReshareCost(s.count); },
       .prepare =
           On([](Context&, Inputs& inputs, const Size& s) { return ToAdditive(inputs.Numbers(s.count, 1)); },
              [](Context& p, const mpc::AdditiveShare& x, const Size&) { return Reshare(p, x); })},
      {.name = "multiply",
       .row = {"multiply", "`Multiply`", "element", kAraki, kSeesReshare},
       .cost = [](const Size& s) { return MultiplyCost(s.count); },
       .prepare = On(kFactors, [](Context& p, const auto& in,
                                  const Size&) { return Multiply(p, in.first, in.second); })},
      {.name = "matmul_wide",
       .row = {"matrix product", "`MatMul`", "element of the result", kAraki, kSeesReshare},
       .size = {.input_bits = 20},
       .shaped = true,
       .cost = [](const Size& s) { return MatMulCost(s.count, s.columns); },
       .prepare = On(kMatrices,
                     [](Context& p, const auto& in, const Size&) { return MatMul(p, in.first, in.second); })},
      {.name = "and",
       .row = {"and, and sums of several", "`And`, `AndSums`", "bit", kAraki, kSeesReshare, kExact,
               kBitsOfElement},
       .cost = [](const Size& s) { return AndCost(s.width, s.count); },
       .prepare = On(
           [](Context&, Inputs& inputs, const Size& s) {
             return std::pair{inputs.Bits(s.width, s.count), inputs.Bits(s.width, s.count)};
           },
           [](Context& p, const auto& in, const Size&) { return And(p, in.first, in.second); })},
  };
}

constexpr mpc::Word kFactor = 2731;

/// Truncation by fraction_bits.
std::vector<Entry> TruncationEntries(Rounding rounding) {
  const bool exact = rounding == Rounding::kExact;
  const std::string suffix = exact ? "_exact" : "";
  const std::string how = exact ? " exactly, by 16 bits" : "";
  const std::string error = exact ? "always down, under 1 unit" : "under 1 unit, unbiased";
  const auto sees = [&](const char* stochastic) { return exact ? kSeesKey : stochastic; };
  const auto cost_of_products = [](const Size& s) {
    return TruncateProductCost(s.count * s.columns, s.fraction_bits, s.rounding);
  };
  return {
      {.name = "truncate" + suffix,
       .row = {"truncate" + how, "`Truncate`", "element", Section("Truncation"), sees(kSeesOpening), error},
       .size = {.rounding = rounding},
       .cost = [](const Size& s) { return TruncateCost(s.count, s.fraction_bits, s.rounding); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return Truncate(p, x, s.fraction_bits, Range::kSigned, s.rounding);
       })},
      {.name = "multiply_truncate" + suffix,
       .row = {"truncate a product" + how, "`MultiplyTruncate`", "element", Section("Truncation"),
               sees(kSeesOpeningOfProduct), error},
       .size = {.input_bits = 30, .rounding = rounding},
       .cost = cost_of_products,
       .prepare = On(kFactors,
                     [](Context& p, const auto& in, const Size& s) {
                       return MultiplyTruncate(p, in.first, in.second, s.fraction_bits, Range::kSigned,
                                               s.rounding);
                     })},
      {.name = "truncate_narrow" + suffix,
       .row = {"truncate a product modulo 2^40" + how, "`TruncateNarrow`", "element", Section("Truncation"),
               sees(kSeesOpeningOfProduct), error},
       .size = {.width = 40, .input_bits = 38, .rounding = rounding},
       .cost =
           [](const Size& s) { return TruncateNarrowCost(s.count, s.fraction_bits, s.rounding, s.width); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return TruncateNarrow(p, ToAdditive(x), s.fraction_bits, {.width = s.width, .factor = kFactor},
                               s.rounding);
       })},
      {.name = "truncate_to_narrow" + suffix,
       .row = {"truncate a product to modulo 2^40" + how, "`TruncateNarrow`", "element",
               Section("Truncation"), sees(kSeesOpeningOfProduct), error},
       .size = {.width = 40, .rounding = rounding},
       .cost =
           [](const Size& s) {
             return TruncateNarrowCost(s.count, s.fraction_bits, s.rounding, 64, s.width);
           },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         // The result's highest bits at the top of a word, too, where tests of all protocols look for them.
         const mpc::Word to_both_ends = 1 + (mpc::Word{1} << (64 - s.width));
         return to_both_ends *
                TruncateNarrow(p, ToAdditive(x), s.fraction_bits, {.of_result = s.width}, s.rounding);
       })},
      {.name = "truncate_lifted" + suffix,
       .row = {"truncate a product modulo 2^40 and a number" + how, "`TruncateLifted`", "element",
               Section("Truncation"),
               "A, B: two openings, each under a mask of its own: of x as truncate a product, of m x + y as "
               "truncate" +
                   std::string(exact ? " exactly" : ""),
               error},
       .size = {.width = 40, .input_bits = 38, .rounding = rounding},
       .cost =
           [](const Size& s) { return TruncateLiftedCost(s.count, s.fraction_bits, s.rounding, s.width); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return TruncateLifted(p, ToAdditive(x), s.width, kFactor, x, s.fraction_bits, s.rounding);
       })},
      {.name = "matmul" + suffix,
       .row = {"truncate a matrix product" + how, "`MatMulTruncate`", "element of the result",
               Section("Truncation"), sees(kSeesOpeningOfProduct), error},
       .size = {.input_bits = 20, .rounding = rounding},
       .shaped = true,
       .cost = cost_of_products,
       .prepare = On(kMatrices,
                     [](Context& p, const auto& in, const Size& s) {
                       return MatMulTruncate(p, in.first, in.second, s.fraction_bits, s.rounding);
                     })},
  };
}

std::vector<Entry> LiftEntries() {
  return {
      {.name = "lift",
       .row = {"from modulo 2^20 to the ring", "`Lift`", "element", Section("Lifting"), "as truncate"},
       .size = {.width = 20, .input_bits = 18},
       .cost = [](const Size& s) { return LiftCost(s.count); },
       .prepare =
           OnNumbers([](Context& p, const ArithShare& x, const Size& s) { return Lift(p, x, s.width); })},
  };
}

}  // namespace

std::vector<Entry> SetUpEntries() {
  const std::string section = Section("Set-up of a session");
  const std::string sees = "what is sent is public";
  return {
      {.name = "agree_on_keys",
       .row = {"key agreement", "`AgreeOnKeys`", "session",
               Section("Pseudo-random sharing and stream identifiers"),
               "public keys; a pair's key is hidden from the third by X25519"},
       .size = {.count = 1},
       .in_bench = false,
       .cost = [](const Size&) { return AgreeOnKeysCost(); },
       .prepare =
           On(kNothing, [](Context& p, int, const Size&) { (void)mpc::AgreeOnKeys(p.transport(), "ab"); })},
      {.name = "require_same_everywhere",
       .row = {"agreement on a text", "`RequireSameEverywhere`", "use", section, sees},
       .size = {.count = 1},
       .in_bench = false,
       .cost = [](const Size&) { return RequireSameEverywhereCost(); },
       .prepare =
           On(kNothing, [](Context& p, int, const Size&) { RequireSameEverywhere(p, "text", "constants"); })},
      {.name = "exchange_texts",
       .row = {"exchange of public texts, 100 bytes each", "`ExchangeTexts`", "use", section, sees},
       .size = {.count = 1, .columns = 100},
       .in_bench = false,
       .cost =
           [](const Size& s) {
             const auto bytes = static_cast<std::uint64_t>(s.columns);
             return ExchangeTextsCost({bytes, bytes, bytes});
           },
       .prepare = On(kNothing,
                     [](Context& p, int, const Size& s) {
                       const auto bytes = static_cast<std::size_t>(s.columns);
                       (void)ExchangeTexts(p, std::string(bytes, static_cast<char>('0' + p.self())), bytes);
                     })},
      {.name = "barrier",
       .row = {"barrier", "`Barrier`", "use", section, "nothing"},
       .size = {.count = 1},
       .cost = [](const Size&) { return BarrierCost(); }},
      {.name = "require_shares_of_one",
       .row = {"whether shares belong together", "`RequireSharesOfOne`", "use", section,
               "hashes of components, keyed with their streams: of the one that it lacks whether two are "
               "equal"},
       .size = {.count = 1},
       .in_bench = false,
       .cost = [](const Size&) { return RequireSharesOfOneCost(); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size&) {
         RequireSharesOfOne(p, {&x}, {.common = "run", .what = "share", .remedy = "expected one"});
       })},
      {.name = "joint_seed",
       .row = {"common coins", "`JointSeed`", "use", section, sees},
       .size = {.count = 1},
       .in_bench = false,
       .cost = [](const Size&) { return JointSeedCost(); },
       .prepare = On(kNothing, [](Context& p, int, const Size&) { (void)JointSeed(p); })},
      {.name = "measure_link",
       .row = {"measuring the links", "`MeasureLink`", "session", section, sees, "a measurement"},
       .size = {.count = 1},
       .cost = [](const Size&) { return MeasureLinkCost(); }},
  };
}

std::vector<Entry> ArithmeticEntries() {
  return Joined({InputEntries(), RevealEntries(), ProductEntries(), TruncationEntries(Rounding::kStochastic),
                 TruncationEntries(Rounding::kExact), LiftEntries()});
}

}  // namespace trefoil::protocols

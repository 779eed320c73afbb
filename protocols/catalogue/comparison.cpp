#include <numeric>

#include "protocols/catalogue/catalogue.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/equality.h"
#include "protocols/comparison/leading_bit.h"
#include "protocols/comparison/row_check.h"
#include "protocols/comparison/small_table.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/cost_model.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Context;
using mpc::Word;

constexpr const char* kSeesTree = "as input for A's addend, as and in each level; no bit opens";

std::vector<std::int64_t> ThresholdsOf(const Size& s) {
  std::vector<std::int64_t> thresholds(static_cast<std::size_t>(s.pieces - 1));
  std::iota(thresholds.begin(), thresholds.end(), 0);
  return thresholds;
}

std::vector<Word> TableOf(std::size_t entries) {
  std::vector<Word> table(entries);
  std::iota(table.begin(), table.end(), 1);
  return table;
}

SmallTables LowBitsTables(const Size& s) {
  return {.bits = s.width, .tables = {TableOf(std::size_t{1} << s.width)}};
}

/// By the leading bit of inputs up to 2^input_bits.
LeadingBitTables LeadingBitTablesOf(const Size& s) {
  return {.lowest = s.input_bits + 1 - s.pieces, .tables = {TableOf(static_cast<std::size_t>(s.pieces))}};
}

/// Rows of `columns` features, a mask bit and `inner` words of a label, of norm 1.
RowBounds RowBoundsOf(const Size& s) {
  return {.features = s.columns,
          .largest_squared_norm = Word{1} << (2 * s.fraction_bits),
          .label_words = s.inner,
          .largest_label = 1};
}

/// The two forms of a comparison of numbers.
std::vector<Entry> Comparisons() {
  return {
      {.name = "compare",
       .row = {"sign, comparison, bulk", "`Msb`, `LessThanZero`", "element of 64 bits",
               Section("Comparison and bit decomposition"), kSeesTree},
       .further = {{"the same, 24 bits", "element", {.width = 24}}},
       .cost = [](const Size& s) { return MsbCost(s.count, s.width); },
       .seconds = [](const Size& s) { return ComparisonSeconds(Form::kBulk, s.count, 1, s.width); },
       .prepare = OnNumbers(
           [](Context& p, const ArithShare& x, const Size& s) { return LessThanZero(p, x, s.width); })},
      {.name = "compare",
       .row = {"comparison with thresholds, latency", "`BelowThresholds`", "element of 64 bits, 1 threshold",
               Section("Many thresholds from one key", "Boyle 2021, fig. 1"), kSeesKey},
       .further = {{"the same, 24 bits, 16 thresholds", "element", {.width = 24, .pieces = 17}}},
       .forms = {Form::kLatency},
       .cost = [](const Size& s) { return BelowThresholdsCost(s.count, ThresholdsOf(s).size(), s.width); },
       .seconds =
           [](const Size& s) { return ComparisonSeconds(Form::kLatency, s.count, s.pieces - 1, s.width); },
       .prepare = OnNumbers([](Context& p, const ArithShare& x, const Size& s) {
         return BelowThresholds(p, x, ThresholdsOf(s), s.width);
       })},
  };
}

std::vector<Entry> Bits() {
  const std::string section = Section("Bit conversion and bit times value");
  const std::string sees = "A, B: b ⊕ r; then as truncate";
  return {
      {.name = "bit_decompose",
       .row = {"bit decomposition", "`BitDecompose`", "element of 64 bits",
               Section("Comparison and bit decomposition", "Sklansky 1960"), kSeesTree},
       .cost = [](const Size& s) { return BitDecomposeCost(s.count, s.width); },
       .prepare = OnNumbers(
           [](Context& p, const ArithShare& x, const Size& s) { return BitDecompose(p, x, s.width); })},
      {.name = "suffix_or",
       .row = {"suffix or", "`SuffixOr`", "element of 64 bits",
               Section("Comparison and bit decomposition", "PEA, protocol 1"), kSeesReshare},
       .cost = [](const Size& s) { return SuffixOrCost(s.width, s.count); },
       .prepare = OnBits([](Context& p, const BoolShare& x, const Size&) { return SuffixOr(p, x); })},
      {.name = "equal_everywhere",
       .row = {"equality of what the parties hold", "`EqualEverywhere`", "item of 64 bits",
               Section("Equality of the parties' bits"), "as input, as and in each level; no bit opens"},
       .cost = [](const Size& s) { return EqualEverywhereCost(s.width, s.count); },
       .prepare = On([](Context&, Inputs& inputs, const Size& s) { return inputs.OwnBits(s.width, s.count); },
                     [](Context& p, const BitMatrix& own, const Size&) { return EqualEverywhere(p, own); })},
      {.name = "bit_to_arith",
       .row = {"bit to number", "`BitToArith`", "bit", section, sees},
       .size = {.width = 1},
       .cost = [](const Size& s) { return BitToArithCost(s.width, s.count); },
       .prepare = OnBits([](Context& p, const BoolShare& x, const Size&) { return BitToArith(p, x); })},
      {.name = "bit_times",
       .row = {"bit times number", "`BitTimes`, `Select`", "element", section, sees},
       .cost = [](const Size& s) { return BitTimesCost(s.count); },
       .prepare = On(
           [](Context&, Inputs& inputs, const Size& s) {
             return std::pair{inputs.Bits(1, s.count), inputs.Numbers(s.count, 1)};
           },
           [](Context& p, const auto& in, const Size&) { return BitTimes(p, in.first, in.second); })},
  };
}

std::vector<Entry> Tables() {
  return {
      {.name = "look_up_by_low_bits",
       .row = {"look-up by the low bits, 1 table of 256", "`LookUpByLowBits`", "element",
               Section("Small tables"), kSeesOpening},
       .forms = {Form::kLatency},
       .size = {.width = 8},
       .cost = [](const Size& s) { return LookUpByLowBitsCost(LowBitsTables(s), s.count); },
       .prepare = OnNumbersBy(LowBitsTables, [](Context& p, const SmallTables& tables, const ArithShare& x,
                                                const Size&) { return LookUpByLowBits(p, tables, x); })},
      {.name = "look_up_by_leading_bit",
       .row = {"look-up by the leading bit, 1 table of 16", "`LookUpByLeadingBit`", "element",
               Section("Inverse square root"), As("bit decomposition, suffix or, bit to number"),
               "none; in latency form a coin within 2^−10 below a power"},
       .forms = {Form::kBulk, Form::kLatency},
       .seen_in_latency = kSeesKey,
       .size = {.input_bits = 23, .pieces = 16},
       .positive = true,
       .cost = [](const Size& s) { return LookUpByLeadingBitCost(LeadingBitTablesOf(s), s.count, s.form); },
       .seconds =
           [](const Size& s) { return LeadingBitSeconds(s.form, s.count, s.pieces - 1, s.input_bits + 2); },
       .prepare = OnNumbersBy(LeadingBitTablesOf,
                              [](Context& p, const LeadingBitTables& tables, const ArithShare& x,
                                 const Size& s) { return LookUpByLeadingBit(p, tables, x, s.form); })},
  };
}

std::vector<Entry> Checks() {
  return {
      {.name = "faulty_rows",
       .row = {"which rows are out of bounds", "`FaultyRows`", "row of 4 features, 10 classes",
               Section("Checks of rows"), As("re-share, comparison, or")},
       .size = {.columns = 4, .inner = 10, .input_bits = 18},
       .cost = [](const Size& s) { return FaultyRowsCost(RowBoundsOf(s), s.count); },
       .prepare = On([](Context&, Inputs& inputs,
                        const Size& s) { return inputs.Numbers(s.count, s.columns + 1 + s.inner); },
                     [](Context& p, const ArithShare& rows, const Size& s) {
                       return FaultyRows(p, RowBoundsOf(s), rows);
                     })},
  };
}

}  // namespace

std::vector<Entry> ComparisonEntries() { return Joined({Comparisons(), Bits(), Tables(), Checks()}); }

}  // namespace trefoil::protocols

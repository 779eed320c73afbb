#include "protocols/functions/softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/functions/maximum.h"
#include "protocols/functions/reciprocal.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::Word;

constexpr int kNormalisedBits = 30;         // of a normalised row
constexpr int kLargestBits = 60;            // of a sum of exponentials
constexpr double kOctavesPerLogit = 2.886;  // log2(e^2), rounded up: e^(2 bound) is below 2^(that * bound)
constexpr Index kMaxClasses = 1024;
constexpr double kUp = 1 + 1e-12;  // covers the roundings of the doubles

int CeilLog2(Index n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

void RequireOptions(const SoftmaxOptions& options) {
  Require(options.classes >= 2 && options.classes <= kMaxClasses, "MakeSoftmaxTable: 2 to 1024 classes");
  Require(options.frac_bits >= 8 && options.frac_bits <= 24, "MakeSoftmaxTable: 8 to 24 fraction bits");
  Require(options.width >= options.frac_bits + 8 && options.width <= 64,
          "MakeSoftmaxTable: a width of frac_bits + 8 to 64 bits");
  Require(!options.logit_bound || (*options.logit_bound >= 0.125 && *options.logit_bound <= 12),
          "MakeSoftmaxTable: a logit bound of 1/8 to 12");
}

/// By how many bits the sum of a row can exceed an exponential of 1.
int OctavesOfSum(const SoftmaxOptions& options) {
  const double of_bound = options.logit_bound ? std::ceil(kOctavesPerLogit * *options.logit_bound) : 0;
  return CeilLog2(options.classes) + static_cast<int>(of_bound);
}

/// Of logit - maximum <= 0; or, since small exponentials would have few digits, of logit + bound >= 0.
ExponentialTable ExponentialFor(const SoftmaxOptions& options) {
  return MakeExponentialTable({.lowest = options.logit_bound ? 0.0 : -32.0,
                               .highest = options.logit_bound ? 2 * *options.logit_bound : 0.0,
                               .input_bits = options.frac_bits,
                               .output_bits = std::min(kNormalisedBits, kLargestBits - OctavesOfSum(options)),
                               .accuracy_bits = std::min(options.frac_bits + 1, 25),
                               .width = options.width});
}

/// docs/reference/protocols.md, "Softmax".
void StateBounds(SoftmaxTable& table) {
  const auto classes = static_cast<double>(table.options.classes);
  const double unit = std::ldexp(1.0, -table.options.frac_bits);
  const double of_inverse = NormalisedReciprocalError(kNormalisedBits);
  const double of_exponential = table.exponential.relative + table.exponential.absolute;
  Require(of_exponential <= std::ldexp(1.0, -11),
          "MakeSoftmaxTable: a logit bound that the ring has enough bits for");
  const double of_sum = table.options.logit_bound ? 2.01 * of_exponential : (1 + classes) * of_exponential;
  table.error = kUp * (of_sum + (1 + classes) * std::ldexp(1.0, -28) + of_inverse + unit);
  table.excess = kUp * (of_inverse + unit);
  table.distance = kUp * (std::sqrt(2.0) + of_inverse + std::sqrt(classes) * unit);
}

}  // namespace

SoftmaxTable MakeSoftmaxTable(const SoftmaxOptions& options) {
  RequireOptions(options);
  SoftmaxTable table{.options = options, .exponential = ExponentialFor(options), .normalising = {}};
  const int one = table.exponential.output_bits;
  const int lowest = options.logit_bound ? one + CeilLog2(options.classes + 1) - 1 : one;
  const int highest = one + OctavesOfSum(options);
  const int top = std::max(highest, kNormalisedBits) + 1;
  std::vector<Word> powers;
  for (int leading = lowest; leading <= highest; ++leading) powers.push_back(Word{1} << (top - 1 - leading));
  table.normalising = {.lowest = lowest, .tables = {powers}};
  table.normalising_shift = top - kNormalisedBits;
  StateBounds(table);
  return table;
}

FixedShare Softmax(mpc::Context& party, const SoftmaxTable& table, const FixedShare& logits) {
  const SoftmaxOptions& options = table.options;
  Require(logits.cols() == options.classes && logits.frac_bits() == options.frac_bits,
          "Softmax: the classes and the scale that the table was made for");
  const ArithShare& x = logits.ring();
  const Index classes = options.classes;
  // 1: e^(x - maximum), or e^(x + bound): at least one of a row is 1 or more.
  const ArithShare shifted =
      options.logit_bound
          ? AddPublic(party, x, mpc::Encode(*options.logit_bound, options.frac_bits, *options.logit_bound))
          : x - RepeatedColumn(RowMaximum(party, x, options.width, options.form), classes);
  const ArithShare exponentials =
      Exponential(party, table.exponential, FixedShare(shifted, options.frac_bits), options.form).ring();
  // 2: times a power of two, so that a row adds up to 1/2 to 1.
  const ArithShare power = Reshaped(
      LookUpByLeadingBit(party, table.normalising, RowSums(exponentials), options.form), x.rows(), 1);
  const ArithShare normalised = MultiplyTruncate(party, RepeatedColumn(power, classes), exponentials,
                                                 table.normalising_shift, Range::kNonNegative);
  // 3: divided by what they add up to, exactly, whatever came before.
  const ArithShare inverse = ReciprocalOfNormalised(party, RowSums(normalised), kNormalisedBits);
  return {MultiplyTruncate(party, normalised, RepeatedColumn(inverse, classes),
                           2 * kNormalisedBits - options.frac_bits),
          options.frac_bits};
}

mpc::Cost SoftmaxCost(const SoftmaxTable& table, Index rows) {
  const SoftmaxOptions& options = table.options;
  const Index count = rows * options.classes;
  mpc::Cost cost = ExponentialCost(table.exponential, count, options.form);
  if (!options.logit_bound)
    cost = Then(RowMaximumCost(rows, options.classes, options.width, options.form), cost);
  cost = Then(cost, LookUpByLeadingBitCost(table.normalising, rows, options.form));
  cost = Then(Then(cost, TruncateProductCost(count)), ReciprocalOfNormalisedCost(rows));
  return Then(cost, TruncateProductCost(count));
}

}  // namespace trefoil::protocols

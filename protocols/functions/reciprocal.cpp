#include "protocols/functions/reciprocal.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/leading_bit.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::Word;

constexpr int kMaxNormalisedBits = 30;    // of a normalised number: products stay below 2^62
constexpr Word kStart = 3144130809;       // 2.9282 * 2^30, rounded down
constexpr double kStepsError = 8.7e-10;   // what three steps leave of the first approximation's error
constexpr double kUnitsOfRounding = 6.2;  // docs/reference/protocols.md, "Reciprocal"

/// How x of a range is brought to [1/2, 1] and back.
struct Scaling {
  Scaling(int f, const ReciprocalRange& range)
      : lowest(f + range.lowest_log2),
        highest(f + range.highest_log2),
        bits(std::min(kMaxNormalisedBits, 62 - f + range.lowest_log2)),
        top(std::max(highest, bits) + 1) {}
  int lowest;   ///< leading bit of the smallest x
  int highest;  ///< and of the largest
  int bits;     ///< fraction bits of the normalised number: times the largest scale back, below 2^63
  int top;      ///< x is multiplied to have its leading bit at top - 1
};

/// By the leading bit L: 2^(top - 1 - L) to normalise; and 2^(2f - L - 1) to scale back, 0 where that is
/// below a unit.
LeadingBitTables ScalesByLeadingBit(int f, const Scaling& scaling) {
  std::vector<Word> up;
  std::vector<Word> back;
  for (int leading = scaling.lowest; leading <= scaling.highest; ++leading) {
    up.push_back(Word{1} << (scaling.top - 1 - leading));
    const int exponent = 2 * f - leading - 1;
    back.push_back(exponent < 0 ? 0 : Word{1} << exponent);
  }
  return {.lowest = scaling.lowest, .tables = {up, back}};
}

void RequireRange(int f, const ReciprocalRange& range) {
  Require(f >= 1 && f <= 24, "Reciprocal: 1 to 24 fraction bits");
  Require(range.lowest_log2 >= -f && range.lowest_log2 < range.highest_log2 && range.highest_log2 <= 62 - f,
          "Reciprocal: a range of positive numbers that the scale represents");
}

}  // namespace

ArithShare ReciprocalOfNormalised(mpc::Context& party, const ArithShare& z, int bits) {
  Require(bits >= 8 && bits <= kMaxNormalisedBits, "ReciprocalOfNormalised: 8 to 30 bits");
  ArithShare y = AddPublic(party, -(Word{2} * z), kStart >> (kMaxNormalisedBits - bits));
  ArithShare e = AddPublic(party, -MultiplyTruncate(party, z, y, bits), Word{1} << bits);
  for (int step = 0; step < 2; ++step) {
    const ArithShare products = MultiplyTruncate(party, Stacked(y, e), Stacked(e, e), bits);
    y = y + Rows(products, 0, z.rows());
    e = Rows(products, z.rows(), z.rows());
  }
  return y + MultiplyTruncate(party, y, e, bits);
}

mpc::Cost ReciprocalOfNormalisedCost(Index count) {
  const mpc::Cost steps = Then(TruncateProductCost(2 * count), TruncateProductCost(2 * count));
  return Then(Then(TruncateProductCost(count), steps), TruncateProductCost(count));
}

double NormalisedReciprocalError(int bits) { return kStepsError + std::ldexp(kUnitsOfRounding, -bits); }

FixedShare Reciprocal(mpc::Context& party, const FixedShare& x, const ReciprocalRange& range, Form form) {
  const int f = x.frac_bits();
  RequireRange(f, range);
  const Scaling scaling(f, range);
  const ArithShare row = Reshaped(x.ring(), 1, x.rows() * x.cols());
  const ArithShare scales = LookUpByLeadingBit(party, ScalesByLeadingBit(f, scaling), row, form);
  const ArithShare normalised =
      MultiplyTruncate(party, Rows(scales, 0, 1), row, scaling.top - scaling.bits, Range::kNonNegative);
  const ArithShare inverse = ReciprocalOfNormalised(party, normalised, scaling.bits);
  const ArithShare y =
      MultiplyTruncate(party, Rows(scales, 1, 1), inverse, scaling.bits, Range::kNonNegative);
  return {Reshaped(y, x.rows(), x.cols()), f};
}

mpc::Cost ReciprocalCost(Index count, int frac_bits, const ReciprocalRange& range, Form form) {
  const LeadingBitTables scales = ScalesByLeadingBit(frac_bits, Scaling(frac_bits, range));
  const mpc::Cost normalised = Then(LookUpByLeadingBitCost(scales, count, form), TruncateProductCost(count));
  return Then(Then(normalised, ReciprocalOfNormalisedCost(count)), TruncateProductCost(count));
}

ReciprocalError ReciprocalErrorBound(int frac_bits, const ReciprocalRange& range) {
  RequireRange(frac_bits, range);
  // The normalised number is off by less than a unit, of a number of at least 1/2 - 2^-11. Beyond a unit's
  // reciprocal the result is 0, and in latency form a little before it.
  const int bits = Scaling(frac_bits, range).bits;
  return {.relative = NormalisedReciprocalError(bits) + std::ldexp(2.01, -bits),
          .units = 1 + std::ldexp(1.0, 1 - kReadBelowPower)};
}

}  // namespace trefoil::protocols

#include "protocols/functions/inverse_sqrt.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/leading_bit.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kRingBits = 64;                // k in PEA
constexpr Index kValueBits = kRingBits - 1;  // bits below the sign: t = 0 .. k - 2

// Floor division by two: exponents can be negative.
constexpr int FloorHalf(int value) { return value >= 0 ? value / 2 : -((1 - value) / 2); }

/// The exponents of 2^(f - exp/2) over all positive x, moved up so that they are never negative: for x above
/// 2^(2f) PEA's f - exp/2 is below zero.
struct Exponents {
  explicit Exponents(int f)
      : offset(std::max(0, FloorHalf(static_cast<int>(kValueBits) - f) - f)),
        largest(f - FloorHalf(1 - f) + offset) {
    while ((1 << bits) <= largest) ++bits;
  }
  int offset;    ///< added to f - exp/2
  int largest;   ///< of f - exp/2 + offset
  int bits = 1;  ///< that hold it
};

/// The sum of the rows first, first + step, ... of x, as one row.
ArithShare SumOfRows(const ArithShare& x, Index first, Index step) {
  RingMatrix own = RingMatrix::Zero(1, x.cols());
  RingMatrix next = own;
  for (Index row = first; row < x.rows(); row += step) {
    own += x.own().row(row);
    next += x.next().row(row);
  }
  return {std::move(own), std::move(next)};
}

/// Rows weighted by public factors and summed: one row.
ArithShare WeightedSum(const ArithShare& x, const std::vector<Word>& weights) {
  RingMatrix own = RingMatrix::Zero(1, x.cols());
  RingMatrix next = own;
  for (Index row = 0; row < x.rows(); ++row) {
    own += x.own().row(row) * weights[static_cast<std::size_t>(row)];
    next += x.next().row(row) * weights[static_cast<std::size_t>(row)];
  }
  return {std::move(own), std::move(next)};
}

/// Takes b x in [2^62, 2^63) to f bits.
int NormalisingShift(int f) { return static_cast<int>(kValueBits) - f; }

/// Steps 1 to 5: the suffix-or bits c_t as 0/1 (a row each, a column an element) and x' in [1/2, 1).
struct Normalised {
  ArithShare c;
  ArithShare x;
};

Normalised Normalise(mpc::Context& party, const FixedShare& x, Rounding rounding) {
  const Index count = x.rows() * x.cols();
  const ArithShare row = Reshaped(x.ring(), 1, count);
  // 2, 3: BitDec and SufOr over the bits below the sign.
  const mpc::BoolShare bits = Planes(BitDecompose(party, row), 0, kValueBits);
  const ArithShare c = BitToArith(party, SuffixOr(party, bits));
  // 4: b = 1 + sum 2^(k-2-t) (1 - c_t) = 2^(k-2-L) for the leading bit L.
  std::vector<Word> minus_powers;
  for (Index t = 0; t < kValueBits; ++t) minus_powers.push_back(Word{0} - (Word{1} << (kValueBits - 1 - t)));
  const ArithShare b = AddPublic(party, WeightedSum(c, minus_powers), Word{1} << kValueBits);
  // 5: b x lies in [2^62, 2^63): known to be non-negative.
  return {
      .c = c,
      .x = MultiplyTruncate(party, b, row, NormalisingShift(x.frac_bits()), Range::kNonNegative, rounding)};
}

Word FloorOf(double value, int bits) {
  return static_cast<Word>(static_cast<std::int64_t>(std::floor(std::ldexp(value, bits))));
}

/// Steps 18 to 21: 0.8277 x'^2 - 2.046 x' + 2.223 - 0.0048, its constants rounded towards smaller results.
ArithShare Polynomial(mpc::Context& party, const ArithShare& x, int f, Rounding rounding) {
  const ArithShare first = Truncate(party, FloorOf(0.8277, f) * x, f, Range::kSigned, rounding);
  const ArithShare linear = AddPublic(party, first, FloorOf(-2.046, f));
  const ArithShare second = MultiplyTruncate(party, linear, x, f, Range::kSigned, rounding);
  return AddPublic(party, second, FloorOf(2.223 - 0.0048, f));
}

mpc::Cost PolynomialCost(Index count, int f, Rounding rounding) {
  return Then(TruncateCost(count, f, rounding), TruncateProductCost(count, f, rounding));
}

/// Whether the polynomial's linear part times x' stays below 2^62 at a scale of 3 f: at most 2.046 x'.
bool LeavesRoomForThree(int f) { return 3 * f + 2 <= 62; }

/// The same polynomial with the truncation of its linear part left out where there is room.
ArithShare PolynomialOfTable(mpc::Context& party, const ArithShare& x, int f, Rounding rounding) {
  if (!LeavesRoomForThree(f)) return Polynomial(party, x, f, rounding);
  const ArithShare linear = AddPublic(party, FloorOf(0.8277, f) * x, FloorOf(-2.046, 2 * f));
  const ArithShare product = MultiplyTruncate(party, linear, x, 2 * f, Range::kSigned, rounding);
  return AddPublic(party, product, FloorOf(2.223 - 0.0048, f));
}

mpc::Cost PolynomialOfTableCost(Index count, int f, Rounding rounding) {
  if (!LeavesRoomForThree(f)) return PolynomialCost(count, f, rounding);
  return TruncateProductCost(count, 2 * f, rounding);
}

mpc::Cost NormaliseCost(Index count, int f, Rounding rounding) {
  const mpc::Cost bits = Then(BitDecomposeCost(count), SuffixOrCost(kValueBits, count));
  return Then(Then(bits, BitToArithCost(kValueBits, count)),
              TruncateProductCost(count, NormalisingShift(f), rounding));
}

/// Steps 6 and 8 to 15: lsb of exp, and 2^(f - floor(exp/2) + offset).
struct Power {
  ArithShare lsb;
  ArithShare value;
};

Power PowerOfExponent(mpc::Context& party, const ArithShare& c, int f, const Exponents& exponents) {
  // 6: exp = sum c_t - f.
  const ArithShare exponent = AddPublic(party, SumOfRows(c, 0, 1), Word{0} - static_cast<Word>(f));
  // 9 before 8, since both are local: the odd (for odd f the even) positions count the pairs.
  const bool even = f % 2 == 0;
  const int subtract = even ? f / 2 : (f + 1) / 2;
  const ArithShare half =
      AddPublic(party, SumOfRows(c, even ? 1 : 0, 2), Word{0} - static_cast<Word>(subtract));
  // 8: Mod2.
  const ArithShare lsb = exponent - Word{2} * half;
  // 10: BitDec, of as many bits as the range has.
  const ArithShare shifted = AddPublic(party, -half, static_cast<Word>(f + exponents.offset));
  const ArithShare e = BitToArith(party, BitDecompose(party, shifted, exponents.bits));
  // 11 - 13: factors 1 + e_t (2^(2^t) - 1).
  std::vector<ArithShare> factors;
  for (int t = 0; t < exponents.bits; ++t) {
    const Word power = Word{1} << (Word{1} << t);
    factors.push_back(AddPublic(party, (power - 1) * Rows(e, t, 1), Word{1}));
  }
  // 14, 15: PreMulC, of which only the last product is used: a tree.
  while (factors.size() > 1) {
    ArithShare left;
    ArithShare right;
    std::vector<ArithShare> next;
    for (std::size_t k = 0; k + 1 < factors.size(); k += 2) {
      left = Stacked(left, factors[k]);
      right = Stacked(right, factors[k + 1]);
    }
    const ArithShare products = Multiply(party, left, right);
    for (Index k = 0; k < products.rows(); ++k) next.push_back(Rows(products, k, 1));
    if (factors.size() % 2 == 1) next.push_back(factors.back());
    factors = std::move(next);
  }
  return {.lsb = lsb, .value = factors.front()};
}

mpc::Cost PowerCost(Index count, const Exponents& exponents) {
  mpc::Cost cost = Then(BitDecomposeCost(count, exponents.bits), BitToArithCost(exponents.bits, count));
  for (int left = exponents.bits; left > 1; left = (left + 1) / 2)
    cost = Then(cost, MultiplyCost(left / 2 * count));
  return cost;
}

/// 2^(f - exp/2 + offset) for each position of the leading bit, rounded down: what steps 6 to 17 compute.
std::vector<Word> PowersOfExponents(int f, const Exponents& exponents) {
  std::vector<Word> powers;
  for (int leading = 0; leading < kValueBits; ++leading) {
    const int exponent = leading + 1 - f;
    const int whole = f - FloorHalf(exponent) + exponents.offset;
    const bool odd = exponent - 2 * FloorHalf(exponent) == 1;
    powers.push_back(odd ? FloorOf(std::sqrt(0.5), whole) : Word{1} << whole);
  }
  return powers;
}

/// By the leading bit L: b = 2^(62 - L), and the power of two.
LeadingBitTables ScalesByLeadingBit(int f, const Exponents& exponents) {
  std::vector<Word> normalising;
  for (Index leading = 0; leading < kValueBits; ++leading)
    normalising.push_back(Word{1} << (kValueBits - 1 - leading));
  return {.lowest = 0, .tables = {normalising, PowersOfExponents(f, exponents)}};
}

void RequireScale(int f) { Require(f >= 8 && f <= 24, "InverseSqrt: 8 to 24 fraction bits"); }

}  // namespace

FixedShare InverseSqrtPublished(mpc::Context& party, const FixedShare& x, Rounding rounding) {
  const int f = x.frac_bits();
  RequireScale(f);
  const Exponents exponents(f);
  // 1 - 5
  const Normalised normalised = Normalise(party, x, rounding);
  // 6 - 15
  const Power power = PowerOfExponent(party, normalised.c, f, exponents);
  // 16: times 2^(-1/2), rounded down.
  const ArithShare reduced =
      Truncate(party, FloorOf(std::sqrt(0.5), f) * power.value, f, Range::kSigned, rounding);
  // 17
  const ArithShare chosen = power.value + Multiply(party, power.lsb, reduced - power.value);
  // 18 - 21
  const ArithShare polynomial = Polynomial(party, normalised.x, f, rounding);
  // 22, 23
  const ArithShare y =
      MultiplyTruncate(party, polynomial, chosen, f + exponents.offset, Range::kSigned, rounding);
  return {Reshaped(y, x.rows(), x.cols()), f};
}

mpc::Cost InverseSqrtPublishedCost(Index count, int frac_bits, Rounding rounding) {
  const Exponents exponents(frac_bits);
  mpc::Cost cost = Then(NormaliseCost(count, frac_bits, rounding), PowerCost(count, exponents));
  cost = Then(Then(cost, TruncateCost(count, frac_bits, rounding)), MultiplyCost(count));
  return Then(Then(cost, PolynomialCost(count, frac_bits, rounding)),
              TruncateProductCost(count, frac_bits + exponents.offset, rounding));
}

FixedShare InverseSqrt(mpc::Context& party, const FixedShare& x, Form form, Rounding rounding) {
  const int f = x.frac_bits();
  RequireScale(f);
  const Exponents exponents(f);
  const ArithShare row = Reshaped(x.ring(), 1, x.rows() * x.cols());
  const ArithShare scales = LookUpByLeadingBit(party, ScalesByLeadingBit(f, exponents), row, form, rounding);
  const ArithShare normalised =
      MultiplyTruncate(party, Rows(scales, 0, 1), row, NormalisingShift(f), Range::kNonNegative, rounding);
  const ArithShare power = Rows(scales, 1, 1);
  const ArithShare polynomial = PolynomialOfTable(party, normalised, f, rounding);
  const ArithShare y =
      MultiplyTruncate(party, polynomial, power, f + exponents.offset, Range::kSigned, rounding);
  return {Reshaped(y, x.rows(), x.cols()), f};
}

mpc::Cost InverseSqrtCost(Index count, int frac_bits, Form form, Rounding rounding) {
  const Exponents exponents(frac_bits);
  const mpc::Cost scaled =
      Then(LookUpByLeadingBitCost(ScalesByLeadingBit(frac_bits, exponents), count, form, rounding),
           TruncateProductCost(count, NormalisingShift(frac_bits), rounding));
  return Then(Then(scaled, PolynomialOfTableCost(count, frac_bits, rounding)),
              TruncateProductCost(count, frac_bits + exponents.offset, rounding));
}

Excess InverseSqrtExcess(int frac_bits) {
  // x' is off by less than one unit (half a unit of the slope's effect, at most), each truncation of the
  // polynomial adds less than one, of a value of at least 1; the polynomial itself is 9e-5 below at its best.
  constexpr double kMinDeficit = 9e-5;
  const double relative = std::max(0.0, std::ldexp(4.0, -frac_bits) - kMinDeficit);
  // The last truncation adds less than one unit, that of step 16 less than 1.42 / 2^offset.
  return {.relative = relative, .units = 1 + std::ldexp(1.42, -Exponents(frac_bits).offset)};
}

}  // namespace trefoil::protocols

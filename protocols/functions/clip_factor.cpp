#include "protocols/functions/clip_factor.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"

namespace trefoil::protocols {
namespace {

constexpr int kFactorBits = 60;               // a factor of 1 is 2^60 before the last truncation
constexpr double kUnitsOfClipSquared = 1024;  // C^2 is at least that many units of the narrowed s
// Up to here the roundings of a factor and of a slope are so small a part of the factor that the bounds of
// the header hold.
constexpr double kLargestNarrowed = 137438953472.0;  // 2^37
constexpr double kTangentPoint =
    1.47;  // of a piece [t, 2t]: makes the deficits at both ends about equal (4.4 %)

constexpr double kPieceRatio = 1.1;      // of constant pieces: at most 4.74 % below
constexpr double kDownward = 1 - 1e-14;  // covers the roundings of the doubles

/// Coefficients of the tangent at s = `at` (in units of s) to 2^60 C / sqrt(s + 1), lowered by one unit of
/// the result (what rounding can add) and by 2^12 more for the roundings of this computation (relative
/// 2^-50 each). s + 1 because a narrowed s may be up to one unit below the exact one.
std::vector<std::int64_t> Tangent(double clip_in_units, double at) {
  const double scale = std::ldexp(1.0, kFactorBits);
  const double value = scale * clip_in_units / std::sqrt(at + 1);
  const double slope = -value / (2 * (at + 1));
  const double constant = value - slope * at;
  const double lowered = constant - std::ldexp(1.0, kFactorBits - kClipFactorBits) - 4096.0;
  return {static_cast<std::int64_t>(std::floor(lowered)), static_cast<std::int64_t>(std::floor(slope))};
}

[[noreturn]] void RefuseClip(double clip, const char* why) {
  std::ostringstream text;
  text << "privacy.clip: found " << clip << ", " << why;
  throw ConfigError(text.str());
}

/// Bits that hold the difference of any two values up to `last`, and its sign.
int WidthFor(double last) { return std::min(64, 2 + CeilLog2(last + 2)); }

/// Fraction bits of a squared norm that is narrowed to just the resolution that is needed.
int NarrowedBits(double clip, double s_max, int input_bits) {
  int norm_bits = 0;
  while (std::ldexp(clip * clip, norm_bits) < kUnitsOfClipSquared && norm_bits < input_bits) ++norm_bits;
  if (std::ldexp(clip * clip, norm_bits) < kUnitsOfClipSquared) {
    RefuseClip(clip, "too small for the resolution of squared norms; raise it or fraction_bits");
  }
  if (std::ldexp(s_max, norm_bits) + 1 > kLargestNarrowed) {
    RefuseClip(clip, "too small beside the largest gradient; raise it, or lower features.row_norm");
  }
  return norm_bits;
}

/// Linear pieces that double in s, of s narrowed to norm_bits.
ClipTable LinearTable(double clip, double s_max, int input_bits, int norm_bits) {
  const double clip_squared = std::ldexp(clip * clip, norm_bits);
  const double clip_in_units = std::sqrt(clip_squared);
  const double last = std::ldexp(s_max, norm_bits) + 1;
  PiecewisePolynomial pieces;
  // Up to here even the next unit is within C^2: the factor is 1, exactly (the truncation of 2^60 by 36 bits
  // has no coin).
  pieces.thresholds.push_back(static_cast<std::int64_t>(std::floor(clip_squared)) - 1);
  pieces.coefficients.push_back({std::int64_t{1} << kFactorBits, 0});
  while (static_cast<double>(pieces.thresholds.back()) < last) {
    const auto start = static_cast<double>(pieces.thresholds.back());
    pieces.coefficients.push_back(Tangent(clip_in_units, kTangentPoint * start));
    pieces.thresholds.push_back(static_cast<std::int64_t>(std::min(2 * start, std::floor(last) + 1)));
  }
  pieces.coefficients.push_back({0, 0});
  pieces.last_shift = kFactorBits - kClipFactorBits;
  pieces.width = WidthFor(last);
  return {.form = Form::kBulk, .pieces = pieces, .shift = input_bits - norm_bits};
}

/// Constant pieces: on t <= s' < u the factor is that of the largest s, rounded down. s' is s in units of
/// 2^-norm_bits, exact or (where bits are dropped) rounded down, or one or two less, so that s is below s' +
/// 3.
ClipTable ConstantTable(double clip, double s_max, int input_bits, int norm_bits) {
  const double clip_in_units = std::sqrt(std::ldexp(clip * clip, norm_bits));
  const std::int64_t end = static_cast<std::int64_t>(std::ceil(std::ldexp(s_max, norm_bits))) + 1;
  PiecewisePolynomial pieces;
  pieces.blur.dropped = input_bits - norm_bits;
  const std::int64_t beyond = pieces.blur.dropped > 0 ? 2 : 0;  // s' < u means s < u + beyond
  pieces.thresholds.push_back(
      static_cast<std::int64_t>(std::floor(clip_in_units * clip_in_units * kDownward)) - beyond);
  pieces.coefficients.push_back({std::int64_t{1} << kClipFactorBits});
  while (pieces.thresholds.back() < end) {
    const double next = kPieceRatio * static_cast<double>(pieces.thresholds.back());
    pieces.thresholds.push_back(std::min(end, static_cast<std::int64_t>(next)));
    const double factor =
        clip_in_units / std::sqrt(static_cast<double>(pieces.thresholds.back() + beyond)) * kDownward;
    pieces.coefficients.push_back(
        {static_cast<std::int64_t>(std::floor(std::ldexp(factor, kClipFactorBits)))});
  }
  pieces.coefficients.push_back({0});
  pieces.width = std::min(64 - pieces.blur.dropped, WidthFor(static_cast<double>(end)));
  return {.form = Form::kLatency, .pieces = pieces, .shift = 0};
}

/// For the bulk form, at the resolution of the table.
mpc::ArithShare Narrowed(mpc::Context& party, const ClipTable& table, const mpc::AdditiveShare& s) {
  if (table.shift == 0) return Reshare(party, s);
  return Truncate(party, s, table.shift, Range::kSigned, table.pieces.rounding);
}

mpc::Cost NarrowedCost(const ClipTable& table, mpc::Index count) {
  return table.shift == 0 ? ReshareCost(count)
                          : TruncateProductCost(count, table.shift, table.pieces.rounding);
}

}  // namespace

ClipTable MakeClipTable(double clip, double s_max, int input_bits, Form form, Rounding rounding) {
  Require(clip > 0 && s_max > 0, "MakeClipTable: a positive clip and range");
  // A clip beyond every gradient is one that clips nothing; so thresholds stay within the range that is
  // compared.
  clip = std::min(clip, std::sqrt(2 * s_max));
  const int norm_bits = NarrowedBits(clip, s_max, input_bits);  // both forms take the same jobs
  // Exact rounding has no coin anywhere, so that nothing is dropped there.
  const int compared_bits = rounding == Rounding::kExact ? input_bits : norm_bits;
  ClipTable table = form == Form::kBulk ? LinearTable(clip, s_max, input_bits, norm_bits)
                                        : ConstantTable(clip, s_max, input_bits, compared_bits);
  table.pieces.rounding = rounding;
  return table;
}

mpc::ArithShare ClipFactor(mpc::Context& party, const ClipTable& table, const mpc::AdditiveShare& s) {
  if (table.form == Form::kLatency) return Reshaped(LookUp(party, table.pieces, s), s.rows(), s.cols());
  return Evaluate(party, table.pieces, Narrowed(party, table, s), table.form);
}

mpc::Cost ClipFactorCost(const ClipTable& table, mpc::Index count) {
  if (table.form == Form::kLatency) return LookUpOfSumCost(table.pieces, count);
  return Then(NarrowedCost(table, count), EvaluateCost(table.pieces, count, table.form));
}

FactorsAndWithin ClipFactorAndWithin(mpc::Context& party, const ClipTable& table,
                                     const mpc::AdditiveShare& s) {
  if (table.form == Form::kLatency) {
    const mpc::ArithShare both = LookUp(party, WithFirstTerm(table.pieces), s);
    return {.factors = Reshaped(Rows(both, 0, 1), s.rows(), s.cols()),
            .within = Reshaped(Rows(both, 1, 1), s.rows(), s.cols())};
  }
  auto both = EvaluateAndFirst(party, table.pieces, Narrowed(party, table, s));
  return {.factors = std::move(both.values), .within = std::move(both.in_first)};
}

mpc::Cost ClipFactorAndWithinCost(const ClipTable& table, mpc::Index count) {
  if (table.form == Form::kLatency) return LookUpOfSumCost(WithFirstTerm(table.pieces), count);
  return Then(NarrowedCost(table, count), EvaluateAndFirstCost(table.pieces, count));
}

}  // namespace trefoil::protocols

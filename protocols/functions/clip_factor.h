#pragma once
#include "mpc/cost.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::protocols {

/// Fraction bits of a clip factor.
inline constexpr int kClipFactorBits = 24;

/// The clip factor min(1, C / sqrt(s)) for s from 0 to s_max as a public table, and 0 above s_max.
struct ClipTable {
  Form form = Form::kBulk;
  PiecewisePolynomial pieces;  ///< of s at scale 2^norm_bits; the result has kClipFactorBits. Their rounding
                               ///< is also that of the narrowing
  int shift = 0;               ///< from the scale of the squared norm as it comes to norm_bits; 0: none
};

/// Builds the table for squared norms at scale 2^input_bits.
/// Bulk: s is narrowed first, and each piece is a tangent to the convex C / sqrt(s), lowered by what rounding
/// can add (of s, of the coefficients, of the result). Latency: constant pieces, the factor at the piece's
/// end; comparisons drop the bits of s below the resolution that bulk narrows to (with exact rounding: none).
/// For every s and every coin
///   0.95 min(1, C / sqrt(s)) <= factor <= min(1, C / sqrt(s)),
/// where s is the exact value, at most s_max, before any truncation. The arithmetic is that of IEEE doubles
/// (+, -, *, /, sqrt), then integers, the same at every party. Throws ConfigError where C^2 is below the
/// resolution of s, or C far below sqrt(s_max) (by a factor of 2^13 and more).
[[nodiscard]] ClipTable MakeClipTable(double clip, double s_max, int input_bits, Form form = Form::kBulk,
                                      Rounding rounding = Rounding::kStochastic);

/// The clip factor of each squared norm, which comes as the local product that it is. Pre: 0 <= s < 2^62.
/// Cost: ClipFactorCost: at most 13 rounds in bulk, 2 in latency form.
[[nodiscard]] mpc::ArithShare ClipFactor(mpc::Context& party, const ClipTable& table,
                                         const mpc::AdditiveShare& s);
[[nodiscard]] mpc::Cost ClipFactorCost(const ClipTable& table, mpc::Index count);

/// Clip factors, and for each whether it is 1 because the squared norm lies in the table's first piece: 1, or
/// 0.
struct FactorsAndWithin {
  mpc::ArithShare factors;
  mpc::ArithShare within;
};

/// The same factors, by the same comparisons. `within` is 0 or 1 for every s of ClipFactor's domain and every
/// coin; it is 0 above C^2, and 1 below it but for a part of 10^-13 and three units of the resolution that s
/// is compared at, of which C^2 has 1024 or more.
/// Cost: ClipFactorAndWithinCost: as ClipFactor; in latency form one looked-up number an element more.
[[nodiscard]] FactorsAndWithin ClipFactorAndWithin(mpc::Context& party, const ClipTable& table,
                                                   const mpc::AdditiveShare& s);
[[nodiscard]] mpc::Cost ClipFactorAndWithinCost(const ClipTable& table, mpc::Index count);

}  // namespace trefoil::protocols

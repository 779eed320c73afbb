#pragma once
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// A declared range: 2^lowest_log2 <= x <= 2^highest_log2.
struct ReciprocalRange {
  int lowest_log2 = 0;
  int highest_log2 = 0;
};

/// How far a result can be from 1 / x: relative * (1 / x) + units * 2^-frac_bits.
struct ReciprocalError {
  double relative = 0;
  double units = 0;
};

/// 1 / x at the scale of x: x is normalised by its leading bit, inverted by iteration, scaled back.
/// Pre:    x in `range`; 1 <= frac_bits <= 24; -frac_bits <= lowest_log2 < highest_log2 <= 62 - frac_bits.
///         Beyond the range the result means nothing.
/// Error:  ReciprocalErrorBound: 1.002 units, and a relative 1e-8 while frac_bits - lowest_log2 <= 32;
///         a result that could be larger leaves less room for digits.
/// Cost:   at most 27 rounds in bulk, 14 in latency form; see ReciprocalCost.
/// Throws: ContractError on scale or range, before anything is sent; NetworkError, ProtocolError.
/// Source: docs/reference/protocols.md, "Reciprocal".
[[nodiscard]] mpc::FixedShare Reciprocal(mpc::Context& party, const mpc::FixedShare& x,
                                         const ReciprocalRange& range, Form form = Form::kBulk);
[[nodiscard]] mpc::Cost ReciprocalCost(mpc::Index count, int frac_bits, const ReciprocalRange& range,
                                       Form form = Form::kBulk);
[[nodiscard]] ReciprocalError ReciprocalErrorBound(int frac_bits, const ReciprocalRange& range);

/// 1 / z for z in [1/2 - 2^-10, 1 + 2^-10], both at `bits` fraction bits, 8 <= bits <= 30: from the linear
/// 2.9282 - 2z by three steps of y <- y + y e, e <- e^2 with e = 1 - z y.
/// Error: |z y - 1| <= NormalisedReciprocalError(bits), whatever the coins.
/// Cost:  8 rounds, 48 words an element.
[[nodiscard]] mpc::ArithShare ReciprocalOfNormalised(mpc::Context& party, const mpc::ArithShare& z, int bits);
[[nodiscard]] mpc::Cost ReciprocalOfNormalisedCost(mpc::Index count);
[[nodiscard]] double NormalisedReciprocalError(int bits);

}  // namespace trefoil::protocols

#pragma once
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/arithmetic/rounding.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// 1 / sqrt(x) for every positive x that the ring holds, at the scale of x: PEA (IEEE S&P 2023), Protocol 1,
/// step by step.
///
/// Error:  0.009 % to 0.89 % below the true value by the polynomial's own error; roundings come on top. The
///         result is never above (1 + relative) * true + units * 2^-frac_bits with InverseSqrtExcess.
/// Pre:    x > 0 as a ring element (1 .. 2^63 - 1); 8 <= frac_bits <= 24. For x <= 0 the result means
///         nothing.
/// Cost:   see InverseSqrtPublishedCost.
/// Throws: ContractError on the scale; NetworkError, ProtocolError.
[[nodiscard]] mpc::FixedShare InverseSqrtPublished(mpc::Context& party, const mpc::FixedShare& x,
                                                   Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost InverseSqrtPublishedCost(mpc::Index count, int frac_bits,
                                                 Rounding rounding = Rounding::kStochastic);

/// The same function, the same polynomial and the same guarantee with the power of two from a public table by
/// the one-hot leading bit, in place of Mod2, a second bit decomposition and PreMulC. In bulk form the
/// leading bit comes from the bits (21 rounds), in latency form from comparisons with the powers of two (8
/// rounds); above 20 fraction bits 2 rounds more.
[[nodiscard]] mpc::FixedShare InverseSqrt(mpc::Context& party, const mpc::FixedShare& x,
                                          Form form = Form::kBulk, Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost InverseSqrtCost(mpc::Index count, int frac_bits, Form form = Form::kBulk,
                                        Rounding rounding = Rounding::kStochastic);

/// How far a result can be above the true value; docs/reference/protocols.md has the derivation.
struct Excess {
  double relative = 0;
  double units = 0;  ///< of 2^-frac_bits
};
[[nodiscard]] Excess InverseSqrtExcess(int frac_bits);

}  // namespace trefoil::protocols

#pragma once
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::protocols {

/// The range of an exponential, and its accuracy.
struct ExponentialOptions {
  double lowest = -32;  ///< the range of x, rounded to its scale; at least -32
  double highest = 0;   ///< at most 24
  int input_bits = 16;  ///< fraction bits of x: 8 to 24
  int output_bits = 16;
  int accuracy_bits = 16;  ///< of the polynomial: the next finer of 12, 17 and 25
  int width = 64;          ///< |x - lowest|, |x - highest| < 2^(width - 1) for every ring value x that occurs
};

/// e^x as a public table of polynomial pieces, with its error. For the exact e^x of lowest <= x <= highest
///   |y - e^x| < relative * max(1, e^x) + absolute,
/// whatever the coins. y is never negative, and wherever e^x > relative it is above e^x - 2^-output_bits:
/// only the last coin can put it below e^x.
struct ExponentialTable {
  PiecewisePolynomial pieces;
  int output_bits = 16;
  double relative = 0;
  double absolute = 0;
};

/// Made by integer arithmetic only, so that all parties get the same table.
/// Throws ContractError on a range or scale outside the above, and where the largest result needs more bits
/// than the ring has: input_bits + 1.45 highest must stay below 52.
[[nodiscard]] ExponentialTable MakeExponentialTable(const ExponentialOptions& options);

/// e^x of each element, at output_bits. Beyond the range it is the value at the nearer end; where `lowest` is
/// so low that e^x is below the polynomial's accuracy, 0 there and beyond.
/// Pre:    x at input_bits; |x| < 2^62 at width 64.
/// Cost:   9 + 2d rounds in bulk (64 bits), 2 + 2d in latency form, for degree d = 3, 4, 5 at accuracy 12,
///         17, 25; see ExponentialCost.
/// Throws: ContractError on the scale of x, before anything is sent; NetworkError, ProtocolError.
/// Source: scripts/derive/exponential.py; docs/reference/protocols.md, "Exponential".
[[nodiscard]] mpc::FixedShare Exponential(mpc::Context& party, const ExponentialTable& table,
                                          const mpc::FixedShare& x, Form form = Form::kBulk);
[[nodiscard]] mpc::Cost ExponentialCost(const ExponentialTable& table, mpc::Index count,
                                        Form form = Form::kBulk);

}  // namespace trefoil::protocols

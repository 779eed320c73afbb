#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// From numbers modulo 2^bits to numbers of the ring. Of each word only the low `bits` count, so that the
/// components may be numbers modulo 2^bits themselves, as in what an owner deposits.
///
/// Result: y congruent to x modulo 2^bits with |y| < 2^bits, whatever the words are. Where x is congruent to
/// a number
///         from -2^(bits - 2) to 2^(bits - 2), y is that number; any other x may give either of its two
///         residues of that size, by a coin. So a y within 2^(bits - 2) is what every later lifting of the
///         same components gives, too.
/// Pre:     2 <= bits <= 63.
/// Cost:    2 rounds, 6 words an element, 2 of them offline (that of a truncation, which it is).
/// Throws:  ContractError if bits is out of range, before anything is sent; NetworkError, ProtocolError.
/// Secrecy: as a truncation's (truncate.h); numbers within 2^(bits - 2) have no coin.
/// Source:  docs/reference/protocols.md, "Lifting".
[[nodiscard]] mpc::ArithShare Lift(mpc::Context& party, const mpc::ArithShare& x, int bits);
[[nodiscard]] mpc::Cost LiftCost(mpc::Index count);

}  // namespace trefoil::protocols

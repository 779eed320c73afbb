#pragma once
#include <cstdint>
#include <functional>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/masked_opening.h"
#include "protocols/arithmetic/rounding.h"

namespace trefoil::protocols {

/// The range of a value to be truncated, read as a signed 64-bit number.
enum class Range {
  kSigned,       ///< |x| < 2^62
  kNonNegative,  ///< 0 <= x < 2^63
};

/// Divides each element by 2^bits and rounds to an integer. Never wraps.
///   kStochastic: y = floor(x / 2^bits) + B,  P[B = 1] = frac(x / 2^bits), so E[y] = x / 2^bits and
///                |error| < 1.
///   kExact:      y = floor(x / 2^bits), always.
///
/// Pre:     1 <= bits <= 62; x in `range`.
/// Cost:    2 rounds, 6 words an element, 2 of them offline; exact: 2 (3 bits + 1) words offline more.
/// Throws:  ContractError if bits is out of range (before anything is sent); NetworkError, ProtocolError.
/// Secrecy: semi-honest, one corruption. Stochastic: the coin's threshold is known to all three, so the ideal
///          functionality publishes it: a bound on a result must hold for both outcomes. Exact: the ideal
///          functionality publishes nothing; the keys hide the mask under the assumption of mpc/dcf/dcf.h.
/// Source:  docs/reference/protocols.md, "Truncation" (masked opening with a dealer; never wraps since |x| is
///          below half of the ring).
[[nodiscard]] mpc::ArithShare Truncate(mpc::Context& party, const mpc::ArithShare& x, int bits,
                                       Range range = Range::kSigned,
                                       Rounding rounding = Rounding::kStochastic);
/// The cost of stochastic rounding does not depend on the shift.
[[nodiscard]] mpc::Cost TruncateCost(mpc::Index count);
[[nodiscard]] mpc::Cost TruncateCost(mpc::Index count, int bits, Rounding rounding);

/// The same for a 3-of-3 sharing, so that a local product is truncated without being re-shared first.
/// Cost: 2 rounds, 8 words an element, 2 of them offline; exact: 2 (3 bits + 1) words offline more.
[[nodiscard]] mpc::ArithShare Truncate(mpc::Context& party, const mpc::AdditiveShare& x, int bits,
                                       Range range = Range::kSigned,
                                       Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost TruncateProductCost(mpc::Index count);
[[nodiscard]] mpc::Cost TruncateProductCost(mpc::Index count, int bits, Rounding rounding);

/// The product, then truncated, fused. Pre: the product is in `range`. Cost: TruncateProductCost.
[[nodiscard]] mpc::ArithShare MultiplyTruncate(mpc::Context& party, const mpc::ArithShare& x,
                                               const mpc::ArithShare& y, int bits,
                                               Range range = Range::kSigned,
                                               Rounding rounding = Rounding::kStochastic);

/// The matrix product, then truncated, fused. Cost: TruncateProductCost of the result's elements.
[[nodiscard]] mpc::ArithShare MatMulTruncate(mpc::Context& party, const mpc::ArithShare& x,
                                             const mpc::ArithShare& y, int bits,
                                             Rounding rounding = Rounding::kStochastic);

/// Modulo 2^width is how x is shared, the factor what it is multiplied by, and modulo 2^of_result how the
/// result is shared.
struct NarrowFactor {
  int width = 64;
  mpc::Word factor = 1;
  /// The factor of a run so many after this one, of a program that is dealt ahead: what is dealt depends on
  /// it. Holds by value what it needs. None: the same in every run.
  std::function<mpc::Word(std::int64_t runs_later)> later{};
  int of_result = 64;
};

/// Truncates factor x, for a 3-of-3 sharing of x modulo 2^width: of a part only the low `width` bits matter,
/// and only these are opened, masked modulo 2^width. The factor is applied behind the opening, so that it
/// takes no bit of the width. A result that is needed modulo 2^of_result alone has components below it: it is
/// right modulo that, and so are sums and products with it.
/// Pre:    1 <= bits <= width - 2; |x| < 2^(width - 2); 1 <= factor <= 2^(64 - width), in every run that
///         `later` gives one for; 1 <= of_result <= 64.
/// Cost:   TruncateNarrowCost: as TruncateProductCost, but width / 8 bytes in place of a word where x is
///         opened, and of_result / 8 where the mask's quotients are dealt and the result is re-shared.
/// Throws: as Truncate.
[[nodiscard]] mpc::ArithShare TruncateNarrow(mpc::Context& party, const mpc::AdditiveShare& x, int bits,
                                             const NarrowFactor& narrow,
                                             Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost TruncateNarrowCost(mpc::Index count, int bits, Rounding rounding, int width,
                                           int of_result = 64);

/// Truncates factor x + y, for x as in TruncateNarrow and y shared modulo 2^64, by a factor that need not be
/// known when it is dealt: what A and B open of x lifts to the ring first. Rounded once.
/// Pre:    2 <= width < 64; |x| < 2^(width - 2); 1 <= bits <= 62; |factor x + y| < 2^62.
/// Cost:   TruncateLiftedCost: a round more than TruncateNarrow, and 4 words an element, 2 of them offline.
/// Throws: as Truncate.
[[nodiscard]] mpc::ArithShare TruncateLifted(mpc::Context& party, const mpc::AdditiveShare& x, int width,
                                             mpc::Word factor, const mpc::ArithShare& y, int bits,
                                             Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost TruncateLiftedCost(mpc::Index count, int bits, Rounding rounding, int width);

/// Truncates a matrix of which A and B of `opening` hold a 2-of-2 sharing (`half`; unused at the dealer),
/// with the same roles. Halves are numbers modulo 2^width: of a word only the low `width` bits matter, and
/// only these are opened; the result is shared modulo 2^64.
/// Pre:    1 <= bits <= width - 2; |x| < 2^(width - 2).
/// Cost:   TruncatePairCost: as TruncateCost, but width / 8 bytes in place of a word where x is opened.
/// Throws: as Truncate.
[[nodiscard]] mpc::ArithShare TruncatePair(const MaskedOpening& opening, const mpc::RingMatrix& half,
                                           mpc::Index rows, mpc::Index cols, int bits,
                                           Rounding rounding = Rounding::kStochastic, int width = 64);
/// With the turn that `opening` took.
[[nodiscard]] mpc::Cost TruncatePairCost(mpc::Index count, int bits, Rounding rounding, int width);

}  // namespace trefoil::protocols

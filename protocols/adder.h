#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Generate and propagate bits of runs of positions, each named by its highest: planes 0 to positions - 1
/// hold the generate bits, as many behind them the propagate bits.
struct Carries {
  mpc::BoolShare bits;
  mpc::Index positions = 0;
};

/// Which carries the runs that an adder starts with are to lead to.
enum class CarriesOf { kAll, kEvery };

/// x as a sum of two numbers' bits modulo 2^width, of which one party holds the first (x_k + x_{k+1}) and
/// both others the second (x_{k+2}).
struct AdderStart {
  mpc::BoolShare sum;  ///< without carries: exclusive or of the addends, `width` planes
  Carries carries;     ///< of the lowest width - 1 positions; runs of two end at odd positions
};

/// Starts a binary adder. Roles rotate (one turn): party A inputs the bits of its components' sum, and for
/// each run of two positions the product of its two bits; the third component's bits, and their products, are
/// a sharing already. From 1,024 elements on A, B and D input a third each. So what a run of two generates
/// and propagates are sums of ANDs of shared bits, and the tree begins above it. Generate bits of even
/// positions below the highest are left zero unless kEvery asks for them; the lowest run's propagate bit is
/// never computed, being needed by nobody. Pre:  2 <= width
/// <= 64. Cost: 2 rounds; width + (width - 1) / 2 bits an element are input, then everybody a bit for each
/// generate or
///       propagate bit computed.
[[nodiscard]] AdderStart StartAdder(mpc::Context& party, const mpc::ArithShare& x, int width,
                                    CarriesOf which);
[[nodiscard]] mpc::Cost StartAdderCost(mpc::Index count, int width, CarriesOf which);

/// The carry out of all positions, one plane: a tree of ceil(log2(positions)) - 1 rounds on what kAll
/// started. The lowest run's propagate bit is never computed.
[[nodiscard]] mpc::BoolShare CarryOut(mpc::Context& party, Carries carries);
[[nodiscard]] mpc::Cost CarryOutCost(mpc::Index positions, mpc::Index count);

/// The carry out of every position t (of positions 0..t): Sklansky's prefix tree on what kEvery started,
/// ceil(log2(positions)) - 1 rounds.
[[nodiscard]] mpc::BoolShare AllCarries(mpc::Context& party, Carries carries);
[[nodiscard]] mpc::Cost AllCarriesCost(mpc::Index positions, mpc::Index count);

}  // namespace trefoil::protocols

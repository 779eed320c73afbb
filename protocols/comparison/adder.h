#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Generate and propagate bits of neighbouring runs of positions, the lowest first: planes 0 to runs - 1 hold
/// the generate bits, as many behind them the propagate bits.
struct Carries {
  mpc::BoolShare bits;
  mpc::Index runs = 0;
};

/// Which carries the runs that an adder starts with are to lead to: that out of all positions, or every one.
enum class CarriesOf { kAll, kEvery };

/// x as a sum of two numbers' bits modulo 2^width, of which one party holds the first (x_k + x_{k+1}) and
/// both others the second (x_{k+2}).
struct AdderStart {
  /// Without carries: exclusive or of the addends' bits, kEvery all `width` planes, kAll the highest alone.
  mpc::BoolShare sum;
  /// Of the lowest width - 1 positions. kAll: runs of two, the highest of one where the number is odd.
  /// kEvery: a run for each position, which ends there; those that end at odd positions are of two, the
  /// others of one.
  Carries carries;
};

/// Starts a binary adder. Roles rotate (one turn): party A inputs the bits of its components' sum, and for
/// each run of two positions the product of its two bits; the third component's bits, and their products, are
/// a sharing already. From 1,024 elements on A, B and D input a third each. So what a run of two generates
/// and propagates are sums of ANDs of shared bits, and the tree begins above it. The lowest run's propagate
/// bit is never computed, being needed by nobody: its plane holds that of the sharings' sum.
///
/// Pre:  2 <= width <= 64.
/// Cost: 2 rounds; width + (width - 1) / 2 bits an element are input, then everybody a bit for each generate
///       or propagate bit computed.
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

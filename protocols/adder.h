#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// The bits of two numbers whose sum modulo 2^width is x: what one party holds (x_k + x_{k+1}) and what the
/// other two do.
struct Addends {
  mpc::BoolShare left;
  mpc::BoolShare right;
};

/// Splits x for a binary adder. Roles rotate (one turn): party A inputs its two components' sum as bits; the
/// third component's bits are a sharing already. Cost: 1 round; A sends width bits an element.
[[nodiscard]] Addends SplitForAdder(mpc::Context& party, const mpc::ArithShare& x, int width);
[[nodiscard]] mpc::Cost SplitForAdderCost(mpc::Index count, int width);

/// Generate and propagate bits of a run of positions (of each plane one position or run).
struct Carries {
  mpc::BoolShare generate;
  mpc::BoolShare propagate;
};

/// g = left & right, p = left ^ right for the lowest `planes` positions. Cost: 1 round, AndCost(planes,
/// count).
[[nodiscard]] Carries StartCarries(mpc::Context& party, const Addends& addends, mpc::Index planes);

/// The carry out of all positions: a tree of ceil(log2(planes)) rounds. The lowest run's propagate bit is
/// never computed.
[[nodiscard]] mpc::BoolShare CarryOut(mpc::Context& party, Carries carries);
[[nodiscard]] mpc::Cost CarryOutCost(mpc::Index planes, mpc::Index count);

/// The carry out of every position t (of positions 0..t): Sklansky's prefix tree, ceil(log2(planes)) rounds.
[[nodiscard]] mpc::BoolShare AllCarries(mpc::Context& party, Carries carries);
[[nodiscard]] mpc::Cost AllCarriesCost(mpc::Index planes, mpc::Index count);

}  // namespace trefoil::protocols

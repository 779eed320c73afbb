#include "protocols/comparison/equality.h"

#include <array>

#include "base/error.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"

namespace trefoil::protocols {
namespace {

using mpc::BoolShare;
using mpc::Cost;
using mpc::Index;

/// The AND of all planes: halves against each other, the odd one left over.
BoolShare AllPlanes(mpc::Context& party, BoolShare bits) {
  while (bits.planes() > 1) {
    const Index half = bits.planes() / 2;
    const BoolShare both = And(party, Planes(bits, 0, half), Planes(bits, half, half));
    bits = bits.planes() % 2 == 0 ? both : Stacked(both, Planes(bits, 2 * half, 1));
  }
  return bits;
}

Cost AllPlanesCost(Index planes, Index count) {
  Cost cost;
  for (; planes > 1; planes -= planes / 2) cost = Then(cost, AndCost(planes / 2, count));
  return cost;
}

}  // namespace

BoolShare EqualEverywhere(mpc::Context& party, const mpc::BitMatrix& own) {
  Require(own.planes() >= 1, "EqualEverywhere: at least one plane");
  const Index count = own.count();
  const auto held = InputEachBits(party, own, own.planes(), {count, count, count});
  const BoolShare differences = Stacked(held[0] ^ held[1], held[0] ^ held[2]);
  return AllPlanes(party, Not(party, differences));
}

Cost EqualEverywhereCost(Index planes, Index count) {
  return Then(InputEachBitsCost(planes, {count, count, count}), AllPlanesCost(2 * planes, count));
}

}  // namespace trefoil::protocols

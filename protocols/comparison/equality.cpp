#include "protocols/comparison/equality.h"

#include <array>

#include "base/error.h"
#include "protocols/arithmetic/input.h"
#include "protocols/comparison/bit_tree.h"

namespace trefoil::protocols {

using mpc::BoolShare;
using mpc::Index;

BoolShare EqualEverywhere(mpc::Context& party, const mpc::BitMatrix& own) {
  Require(own.planes() >= 1, "EqualEverywhere: at least one plane");
  const Index count = own.count();
  const auto held = InputEachBits(party, own, own.planes(), {count, count, count});
  const BoolShare differences = Stacked(held[0] ^ held[1], held[0] ^ held[2]);
  return AllPlanes(party, Not(party, differences));
}

mpc::Cost EqualEverywhereCost(Index planes, Index count) {
  return Then(InputEachBitsCost(planes, {count, count, count}), AllPlanesCost(2 * planes, count));
}

}  // namespace trefoil::protocols

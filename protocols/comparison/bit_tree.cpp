#include "protocols/comparison/bit_tree.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Cost;
using mpc::Index;

constexpr Index kItemsAWord = 64;

/// How many words hold that many bits.
Index WordsOf(Index bits) { return (bits + kItemsAWord - 1) / kItemsAWord; }

/// Makes each word of a plane an item, and each of its bits a plane.
BitMatrix ByPlace(const BitMatrix& plane) {
  return mpc::ToPlanes(plane.words(), static_cast<int>(std::min(kItemsAWord, plane.count())));
}

}  // namespace

BoolShare AllPlanes(mpc::Context& party, BoolShare bits) {
  Require(bits.planes() >= 1, "AllPlanes: at least one plane");
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

BoolShare AnyPlane(mpc::Context& party, const BoolShare& bits) {
  return Not(party, AllPlanes(party, Not(party, bits)));
}

Cost AnyPlaneCost(Index planes, Index count) { return AllPlanesCost(planes, count); }

BoolShare AnyItem(mpc::Context& party, BoolShare bits) {
  Require(bits.planes() == 1 && bits.count() >= 1, "AnyItem: one plane of at least one item");
  // The unused bits of the last word are zeros in all components: they change no OR.
  while (bits.count() > 1) bits = AnyPlane(party, {ByPlace(bits.own()), ByPlace(bits.next())});
  return bits;
}

Cost AnyItemCost(Index count) {
  Cost cost;
  for (; count > 1; count = WordsOf(count))
    cost = Then(cost, AnyPlaneCost(std::min(kItemsAWord, count), WordsOf(count)));
  return cost;
}

}  // namespace trefoil::protocols

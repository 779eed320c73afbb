#include "protocols/adder.h"

#include <vector>

#include "base/error.h"
#include "mpc/plane_builder.h"
#include "protocols/input.h"
#include "protocols/multiply.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Index;

/// One level of a prefix tree: run `high[k]` takes in run `low[k]` just below it.
struct Level {
  std::vector<Index> high;
  std::vector<Index> low;
  std::vector<std::size_t> keep_propagate;  ///< the k whose result's propagate bit is still needed
};

std::vector<Index> PickIndices(const std::vector<Index>& all, const std::vector<std::size_t>& which) {
  std::vector<Index> picked;
  picked.reserve(which.size());
  for (const std::size_t k : which) picked.push_back(all[k]);
  return picked;
}

/// (g, p) of each high run becomes (g_high ^ p_high g_low, p_high p_low): all the ANDs of a level in one
/// round.
Carries Combine(mpc::Context& party, const Carries& carries, const Level& level) {
  const auto pairs = static_cast<Index>(level.high.size());
  const std::vector<Index> kept_high = PickIndices(level.high, level.keep_propagate);
  const std::vector<Index> kept_low = PickIndices(level.low, level.keep_propagate);
  const BoolShare left =
      Stacked(PickPlanes(carries.propagate, level.high), PickPlanes(carries.propagate, kept_high));
  const BoolShare right =
      Stacked(PickPlanes(carries.generate, level.low), PickPlanes(carries.propagate, kept_low));
  const BoolShare products = And(party, left, right);
  const BoolShare generate = PickPlanes(carries.generate, level.high) ^ Planes(products, 0, pairs);
  return {.generate = WithPlanes(carries.generate, level.high, generate),
          .propagate =
              WithPlanes(carries.propagate, kept_high, Planes(products, pairs, products.planes() - pairs))};
}

/// Levels of the tree that leaves the carry of everything in the highest position. Runs are named by their
/// highest position.
std::vector<Level> ReductionLevels(Index planes) {
  std::vector<Level> levels;
  std::vector<Index> runs;
  for (Index plane = 0; plane < planes; ++plane) runs.push_back(plane);
  while (runs.size() > 1) {
    Level level;
    std::vector<Index> next;
    // Pairs are taken from the top, so that an odd run out is the lowest, whose propagate bit nobody needs.
    const std::size_t odd = runs.size() % 2;
    if (odd == 1) next.push_back(runs.front());
    for (std::size_t k = odd; k + 1 < runs.size(); k += 2) {
      if (k > 0) level.keep_propagate.push_back(level.high.size());
      level.low.push_back(runs[k]);
      level.high.push_back(runs[k + 1]);
      next.push_back(runs[k + 1]);
    }
    levels.push_back(level);
    runs = next;
  }
  return levels;
}

/// Sklansky: at level l every position with bit l set takes in the run that ends just below its block of 2^l.
std::vector<Level> PrefixLevels(Index planes) {
  std::vector<Level> levels;
  for (Index step = 1; step < planes; step *= 2) {
    Level level;
    for (Index plane = 0; plane < planes; ++plane) {
      if ((plane & step) == 0) continue;
      const Index low = (plane & ~(step - 1)) - 1;
      if (plane >= 2 * step) level.keep_propagate.push_back(level.high.size());
      level.high.push_back(plane);
      level.low.push_back(low);
    }
    levels.push_back(level);
  }
  return levels;
}

mpc::Cost LevelsCost(const std::vector<Level>& levels, Index count) {
  mpc::Cost cost;
  for (const Level& level : levels) {
    cost = Then(cost, AndCost(static_cast<Index>(level.high.size() + level.keep_propagate.size()), count));
  }
  return cost;
}

Carries RunLevels(mpc::Context& party, Carries carries, const std::vector<Level>& levels) {
  for (const Level& level : levels) carries = Combine(party, carries, level);
  return carries;
}

}  // namespace

Addends SplitForAdder(mpc::Context& party, const mpc::ArithShare& x, int width) {
  const mpc::Roles roles = party.NextRoles();
  BitMatrix sum;
  if (party.self() == roles.a) sum = mpc::ToPlanes(x.own() + x.next(), width);
  BoolShare left = InputBits(party, roles.a, sum, width, x.size());
  // The third component is B's second and D's first: its bits with two zero components are a sharing.
  BitMatrix own(width, x.size());
  BitMatrix next(width, x.size());
  if (party.self() == roles.b) next = mpc::ToPlanes(x.next(), width);
  if (party.self() == roles.dealer) own = mpc::ToPlanes(x.own(), width);
  return {.left = std::move(left), .right = {std::move(own), std::move(next)}};
}

mpc::Cost SplitForAdderCost(Index count, int width) {
  return mpc::Cost::Round({{0, 1, mpc::PackedBytes(width, count)}}).WithTurn();
}

Carries StartCarries(mpc::Context& party, const Addends& addends, Index planes) {
  const BoolShare left = Planes(addends.left, 0, planes);
  const BoolShare right = Planes(addends.right, 0, planes);
  return {.generate = And(party, left, right), .propagate = left ^ right};
}

BoolShare CarryOut(mpc::Context& party, Carries carries) {
  const Index planes = carries.generate.planes();
  return Planes(RunLevels(party, std::move(carries), ReductionLevels(planes)).generate, planes - 1, 1);
}

mpc::Cost CarryOutCost(Index planes, Index count) { return LevelsCost(ReductionLevels(planes), count); }

BoolShare AllCarries(mpc::Context& party, Carries carries) {
  const Index planes = carries.generate.planes();
  return RunLevels(party, std::move(carries), PrefixLevels(planes)).generate;
}

mpc::Cost AllCarriesCost(Index planes, Index count) { return LevelsCost(PrefixLevels(planes), count); }

}  // namespace trefoil::protocols

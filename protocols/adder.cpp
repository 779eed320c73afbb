#include "protocols/adder.h"

#include <array>
#include <utility>
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
using mpc::RingMatrix;
using mpc::SideBySide;

/// One level of a prefix tree: run `high[k]` takes in run `low[k]` just below it.
struct Level {
  std::vector<Index> high;
  std::vector<Index> low;
  std::vector<std::size_t> keep_propagate;  ///< the k whose result's propagate bit is still needed
};

/// (g, p) of each high run becomes (g_high ^ p_high g_low, p_high p_low): all the ANDs of a level in one
/// round.
Carries Combine(mpc::Context& party, Carries carries, const Level& level) {
  const auto pairs = static_cast<Index>(level.high.size());
  const auto propagate = [n = carries.positions](Index position) { return n + position; };
  std::vector<AndTerm> terms;
  for (std::size_t k = 0; k < level.high.size(); ++k)
    terms.push_back({propagate(level.high[k]), level.low[k], static_cast<Index>(k)});
  std::vector<Index> kept;
  for (const std::size_t k : level.keep_propagate) {
    terms.push_back(
        {propagate(level.high[k]), propagate(level.low[k]), pairs + static_cast<Index>(kept.size())});
    kept.push_back(propagate(level.high[k]));
  }
  const BoolShare products =
      AndSums(party, carries.bits, carries.bits, pairs + static_cast<Index>(kept.size()), terms);
  carries.bits = WithPlanesAdded(std::move(carries.bits), level.high, products);
  carries.bits = WithPlanes(std::move(carries.bits), kept, products, pairs);
  return carries;
}

/// Levels of the tree that leaves the carry of everything in the highest position. Runs are named by their
/// highest position.
std::vector<Level> ReductionLevels(Index positions) {
  std::vector<Level> levels;
  std::vector<Index> runs;
  for (Index position = 1; position < positions; position += 2) runs.push_back(position);
  if (positions % 2 == 1) runs.push_back(positions - 1);
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

/// Sklansky: at level l >= 1 every position with bit l set takes in the run that ends just below its block of
/// 2^l.
std::vector<Level> PrefixLevels(Index planes) {
  std::vector<Level> levels;
  for (Index step = 2; step < planes; step *= 2) {
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
  for (const Level& level : levels) carries = Combine(party, std::move(carries), level);
  return carries;
}

/// Planes of a number's bits, and of the products of the bits of each run of two.
BitMatrix WithPairProducts(const BitMatrix& bits) {
  const Index width = bits.planes();
  const Index pairs = (width - 1) / 2;
  BitMatrix out = BitMatrix::ToBeWritten(width + pairs, bits.count());
  out.words().topRows(width) = bits.words();
  for (Index k = 0; k < pairs; ++k) {
    out.words().row(width + k) = bits.words().row(2 * k).binaryExpr(
        bits.words().row(2 * k + 1), [](mpc::Word low, mpc::Word high) { return low & high; });
  }
  return out;
}

/// What AndSums is to compute at the start, and where that belongs.
struct StartTerms {
  std::vector<AndTerm> terms;
  std::vector<Index> places;  ///< of each result, among the planes of the carries
};

StartTerms TermsOf(int width, CarriesOf which) {
  const Index positions = width - 1;
  StartTerms start;
  const auto begin_result = [&](Index place) {
    start.places.push_back(place);
    return static_cast<Index>(start.places.size()) - 1;
  };
  for (Index low = 0; low < positions; low += 2) {
    const Index high = low + 1;
    if (high == positions || which == CarriesOf::kEvery) {
      const Index result = begin_result(low);
      start.terms.push_back({low, low, result});
    }
    if (high == positions) break;
    const Index product = width + low / 2;
    // With p = a ^ b and g = a b: g_high ^ p_high g_low = a_h b_h ^ (a_h a_l) b_l ^ a_l (b_h b_l).
    const Index generate = begin_result(high);
    start.terms.push_back({high, high, generate});
    start.terms.push_back({product, low, generate});
    start.terms.push_back({low, product, generate});
    if (low == 0) continue;
    // p_high p_low = a_h a_l ^ a_h b_l ^ a_l b_h ^ b_h b_l, of which the first and last are shared already.
    const Index propagate = begin_result(positions + high);
    start.terms.push_back({high, low, propagate});
    start.terms.push_back({low, high, propagate});
  }
  return start;
}

/// From so many numbers on, all three parties input.
constexpr Index kLanesToDivide = 1024;

/// How many of `count` numbers A, B and D input: one of them sends as much as the rest of a comparison takes,
/// so of many each inputs about a third, in whole words of 64. Few stay in one message.
std::array<Index, 3> LanesByRole(Index count) {
  if (count < kLanesToDivide) return {count, 0, 0};
  const Index third = (count + 3 * 64 - 1) / (3 * 64) * 64;
  return {third, third, count - 2 * third};
}

/// Two summands of every number, in planes with pair products: what one party knows of its three components,
/// and the third, which the others hold.
struct Summands {
  BoolShare left;
  BoolShare right;
};

Summands InputSummands(mpc::Context& party, const mpc::ArithShare& x, int width) {
  const mpc::Roles roles = party.NextRoles();
  const std::array<int, 3> owners{roles.a, roles.b, roles.dealer};
  const std::array<Index, 3> lanes = LanesByRole(x.size());
  const Index planes = width + (width - 1) / 2;
  std::array<Index, 3> counts{};  // by party
  BitMatrix inputs;
  std::array<BitMatrix, 3> own;
  std::array<BitMatrix, 3> next;
  Index first = 0;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    const int owner = owners[k];
    const auto some = [&](const RingMatrix& words) {
      return Eigen::Map<const RingMatrix>(words.data() + first, 1, lanes[k]);
    };
    const auto planes_of = [width](const RingMatrix& words) {
      return WithPairProducts(mpc::ToPlanes(words, width));
    };
    counts.at(static_cast<std::size_t>(owner)) = lanes[k];
    own[k] = BitMatrix(planes, lanes[k]);
    next[k] = BitMatrix(planes, lanes[k]);
    // The third component is the next party's second and the one's after it first: its bits with two zero
    // components are a sharing.
    if (party.self() == owner) {
      inputs = planes_of(some(x.own()) + some(x.next()));
    } else if (party.previous() == owner) {
      next[k] = planes_of(some(x.next()));
    } else {
      own[k] = planes_of(some(x.own()));
    }
    first += lanes[k];
  }
  const auto shares = InputEachBits(party, inputs, planes, counts);
  const auto of = [&](std::size_t k) -> const BoolShare& {
    return shares.at(static_cast<std::size_t>(owners[k]));
  };
  return {.left = {SideBySide({of(0).own(), of(1).own(), of(2).own()}),
                   SideBySide({of(0).next(), of(1).next(), of(2).next()})},
          .right = {SideBySide(own), SideBySide(next)}};
}

}  // namespace

AdderStart StartAdder(mpc::Context& party, const mpc::ArithShare& x, int width, CarriesOf which) {
  Require(width >= 2 && width <= 64, "StartAdder: a width of 2 to 64 bits");
  const auto [left, right] = InputSummands(party, x, width);
  const Index positions = width - 1;
  const Index pairs = positions / 2;
  const StartTerms start = TermsOf(width, which);
  const BoolShare products =
      AndSums(party, left, right, static_cast<Index>(start.places.size()), start.terms);
  const BoolShare sums = left ^ right;
  const BoolShare sum = Planes(sums, 0, width);
  // Generate bits begin as zeros; propagate bits as those of single positions, or as what needs no product.
  const BoolShare zeros{BitMatrix(positions, x.size()), BitMatrix(positions, x.size())};
  BoolShare bits = Stacked(zeros, Planes(sums, 0, positions));
  std::vector<Index> of_pairs;
  for (Index k = 0; k < pairs; ++k) of_pairs.push_back(positions + 2 * k + 1);
  bits = WithPlanes(std::move(bits), of_pairs, sums, width);
  bits = WithPlanesAdded(std::move(bits), start.places, products);
  return {.sum = sum, .carries = {.bits = std::move(bits), .positions = positions}};
}

mpc::Cost StartAdderCost(Index count, int width, CarriesOf which) {
  const mpc::Cost input = InputEachBitsCost(width + (width - 1) / 2, LanesByRole(count)).WithTurn();
  return Then(input, AndCost(static_cast<Index>(TermsOf(width, which).places.size()), count));
}

BoolShare CarryOut(mpc::Context& party, Carries carries) {
  const std::vector<Level> levels = ReductionLevels(carries.positions);
  carries = RunLevels(party, std::move(carries), levels);
  return Planes(carries.bits, carries.positions - 1, 1);
}

mpc::Cost CarryOutCost(Index positions, Index count) { return LevelsCost(ReductionLevels(positions), count); }

BoolShare AllCarries(mpc::Context& party, Carries carries) {
  const std::vector<Level> levels = PrefixLevels(carries.positions);
  carries = RunLevels(party, std::move(carries), levels);
  return Planes(carries.bits, 0, carries.positions);
}

mpc::Cost AllCarriesCost(Index positions, Index count) { return LevelsCost(PrefixLevels(positions), count); }

}  // namespace trefoil::protocols

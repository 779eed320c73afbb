#include "protocols/comparison/adder.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mpc/simd/bit_kernels.h"
#include "mpc/simd/elementwise_kernels.h"
#include "mpc/simd/plane_builder.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::SideBySide;
using mpc::Word;

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
  const auto propagate = [n = carries.runs](Index run) { return n + run; };
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

/// Levels of the tree that leaves the carry of everything in the highest run.
std::vector<Level> ReductionLevels(Index count) {
  std::vector<Level> levels;
  std::vector<Index> runs;
  for (Index run = 0; run < count; ++run) runs.push_back(run);
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

/// How the runs that an adder starts with are made from two summands' planes with pair products.
struct StartTerms {
  Index runs = 0;
  std::vector<AndTerm> terms;  ///< what AndSums is to compute
  std::vector<Index> places;   ///< of each result, among the planes of the carries
  std::vector<Index>
      propagate;  ///< for each run, of which planes the exclusive or is its propagate bit's sum
};

StartTerms TermsOf(int width, CarriesOf which) {
  const Index positions = width - 1;
  const bool every = which == CarriesOf::kEvery;
  StartTerms start{
      .runs = every ? positions : (positions + 1) / 2, .terms = {}, .places = {}, .propagate = {}};
  const auto run_ending_at = [every](Index position) { return every ? position : position / 2; };
  const auto begin_result = [&](Index place) {
    start.places.push_back(place);
    return static_cast<Index>(start.places.size()) - 1;
  };
  for (Index low = 0; low < positions; low += 2) {
    const Index high = low + 1;
    if (high == positions || every) {
      const Index result = begin_result(run_ending_at(low));
      start.terms.push_back({low, low, result});
      start.propagate.push_back(low);
    }
    if (high == positions) break;
    const Index product = width + low / 2;
    // With p = a ^ b and g = a b: g_high ^ p_high g_low = a_h b_h ^ (a_h a_l) b_l ^ a_l (b_h b_l).
    const Index generate = begin_result(run_ending_at(high));
    start.terms.push_back({high, high, generate});
    start.terms.push_back({product, low, generate});
    start.terms.push_back({low, product, generate});
    start.propagate.push_back(product);
    if (low == 0) continue;
    // p_high p_low = a_h a_l ^ a_h b_l ^ a_l b_h ^ b_h b_l, of which the first and last are shared already.
    const Index propagate = begin_result(start.runs + run_ending_at(high));
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

Index PlanesWithPairs(int width) { return width + (width - 1) / 2; }

/// The words' bits and the products of each run of two, as bits [first, first + x.size()) of the planes of
/// `to`.
void PutWithPairProducts(std::span<const Word> x, int width, Index first, BitMatrix& to) {
  mpc::PutPlanes(x, width, first, to);
  const Index at = first / 64;
  const Index words = (static_cast<Index>(x.size()) + 63) / 64;
  for (Index low = 0; low + 1 < width - 1; low += 2)
    mpc::BitwiseAnd(to.plane(low) + at, to.plane(low + 1) + at, words, to.plane(width + low / 2) + at);
}

Summands InputSummands(mpc::Context& party, const mpc::ArithShare& x, int width) {
  const mpc::Roles roles = party.NextRoles();
  const std::array<int, 3> owners{roles.a, roles.b, roles.dealer};
  const std::array<Index, 3> lanes = LanesByRole(x.size());
  const Index planes = PlanesWithPairs(width);
  std::array<Index, 3> counts{};  // by party
  BitMatrix inputs;
  BitMatrix own(planes, x.size());
  BitMatrix next(planes, x.size());
  Index first = 0;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    if (lanes[k] == 0) continue;
    const int owner = owners[k];
    counts.at(static_cast<std::size_t>(owner)) = lanes[k];
    const auto some = [&](const RingMatrix& words) {
      return std::span(words.data() + first, static_cast<std::size_t>(lanes[k]));
    };
    // The third component is the next party's second and the one's after it first: its bits with two zero
    // components are a sharing.
    if (party.self() == owner) {
      RingMatrix sum(1, lanes[k]);
      mpc::AddWords(x.words().own + first, x.words().next + first, lanes[k], sum.data());
      inputs = BitMatrix::ToBeWritten(planes, lanes[k]);
      PutWithPairProducts({sum.data(), static_cast<std::size_t>(sum.size())}, width, 0, inputs);
    } else if (party.previous() == owner) {
      PutWithPairProducts(some(x.next()), width, first, next);
    } else {
      PutWithPairProducts(some(x.own()), width, first, own);
    }
    first += lanes[k];
  }
  const auto shares = InputEachBits(party, inputs, planes, counts);
  const auto of = [&](std::size_t k) -> const BoolShare& {
    return shares.at(static_cast<std::size_t>(owners[k]));
  };
  return {.left = {SideBySide({of(0).own(), of(1).own(), of(2).own()}),
                   SideBySide({of(0).next(), of(1).next(), of(2).next()})},
          .right = {std::move(own), std::move(next)}};
}

/// One component of the carries that an adder starts with, from those of the summands and of AndSums'
/// results.
BitMatrix StartBits(const StartTerms& start, const BitMatrix& left, const BitMatrix& right,
                    const BitMatrix& products) {
  BitMatrix bits = BitMatrix::ToBeWritten(2 * start.runs, left.count());
  const Index words = bits.words_per_plane();
  for (Index run = 0; run < start.runs; ++run) {
    const Index plane = start.propagate[static_cast<std::size_t>(run)];
    mpc::ExclusiveOr(left.plane(plane), right.plane(plane), words, bits.plane(start.runs + run));
  }
  for (std::size_t k = 0; k < start.places.size(); ++k) {
    const Word* product = products.plane(static_cast<Index>(k));
    Word* to = bits.plane(start.places[k]);
    if (start.places[k] < start.runs) {
      std::copy_n(product, words, to);
    } else {
      mpc::ExclusiveOr(to, product, words, to);
    }
  }
  return bits;
}

}  // namespace

AdderStart StartAdder(mpc::Context& party, const mpc::ArithShare& x, int width, CarriesOf which) {
  Require(width >= 2 && width <= 64, "StartAdder: a width of 2 to 64 bits");
  const auto [left, right] = InputSummands(party, x, width);
  const StartTerms start = TermsOf(width, which);
  const BoolShare products =
      AndSums(party, left, right, static_cast<Index>(start.places.size()), start.terms);
  const Index lowest = which == CarriesOf::kEvery ? 0 : width - 1;
  const auto highest_bits = [&](const BoolShare& summand) { return Planes(summand, lowest, width - lowest); };
  return {.sum = highest_bits(left) ^ highest_bits(right),
          .carries = {.bits = {StartBits(start, left.own(), right.own(), products.own()),
                               StartBits(start, left.next(), right.next(), products.next())},
                      .runs = start.runs}};
}

mpc::Cost StartAdderCost(Index count, int width, CarriesOf which) {
  const mpc::Cost input = InputEachBitsCost(PlanesWithPairs(width), LanesByRole(count)).WithTurn();
  return Then(input, AndCost(static_cast<Index>(TermsOf(width, which).places.size()), count));
}

BoolShare CarryOut(mpc::Context& party, Carries carries) {
  const std::vector<Level> levels = ReductionLevels(carries.runs);
  carries = RunLevels(party, std::move(carries), levels);
  return Planes(carries.bits, carries.runs - 1, 1);
}

mpc::Cost CarryOutCost(Index positions, Index count) {
  return LevelsCost(ReductionLevels((positions + 1) / 2), count);
}

BoolShare AllCarries(mpc::Context& party, Carries carries) {
  const std::vector<Level> levels = PrefixLevels(carries.runs);
  carries = RunLevels(party, std::move(carries), levels);
  return Planes(carries.bits, 0, carries.runs);
}

mpc::Cost AllCarriesCost(Index positions, Index count) { return LevelsCost(PrefixLevels(positions), count); }

}  // namespace trefoil::protocols

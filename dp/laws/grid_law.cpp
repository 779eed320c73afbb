#include "dp/laws/grid_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/error.h"

namespace trefoil::dp {
namespace {

/// Outcomes whose losses begin at `begin`: their mass, and E[1 - exp(begin - loss)] over them, which is not
/// below 0.
struct Stretch {
  double begin = 0;
  double mass = 0;
  double gain = 0;

  /// E[1 - exp(a - loss)] over them.
  [[nodiscard]] double GainFrom(double a) const {
    return gain * std::exp(a - begin) - mass * std::expm1(a - begin);
  }
  /// Where they lie if they are merged into one outcome: -log E[exp(-loss)].
  [[nodiscard]] double MergedLoss() const { return begin - std::log1p(-std::min(gain / mass, 1.0)); }
};

struct Node {
  double place;
  double weight;
};
/// Gauss-Legendre on [-1, 1] with 2, 3 and 5 nodes: as many as a narrow, less narrow and wide interval needs.
constexpr std::array<Node, 2> kTwo{Node{-0.5773502691896257, 1.0}, Node{0.5773502691896257, 1.0}};
constexpr std::array<Node, 3> kThree{Node{0.0, 0.8888888888888889},
                                     Node{-0.7745966692414834, 0.5555555555555556},
                                     Node{0.7745966692414834, 0.5555555555555556}};
constexpr std::array<Node, 5> kFive{
    Node{0.0, 0.5688888888888889}, Node{-0.5384693101056831, 0.4786286704993665},
    Node{0.5384693101056831, 0.4786286704993665}, Node{-0.9061798459386640, 0.2369268850561891},
    Node{0.9061798459386640, 0.2369268850561891}};

std::span<const Node> NodesFor(double relative_width) {
  if (relative_width < 1.0 / 200) return kTwo;
  if (relative_width < 1.0 / 20) return kThree;
  return kFive;
}

/// The outcomes with u in [from, to], whose losses begin at `begin`.
Stretch Integrate(const LossLaw& law, double from, double to, double begin) {
  Stretch sum{.begin = begin};
  if (!(to > from)) return sum;
  const double pieces = std::ceil((to - from) / law.smooth);
  const double half = (to - from) / pieces / 2;
  const auto nodes = NodesFor(2 * half / law.smooth);
  for (double piece = 0; piece < pieces; ++piece) {
    const double middle = from + (2 * piece + 1) * half;
    for (const auto& node : nodes) {
      const auto point = law.at(middle + half * node.place);
      const double mass = point.density * node.weight * half;
      sum.mass += mass;
      sum.gain += mass * std::max(0.0, -std::expm1(begin - point.loss));
    }
  }
  return sum;
}

/// The outcomes with a density, by half cells of the grid.
std::vector<Stretch> HalfCells(const LossLaw& law, double width) {
  std::vector<Stretch> halves;
  if (!law.has_density) return halves;
  const auto first = static_cast<std::int64_t>(std::floor(law.at(law.from).loss / width));
  const auto last = static_cast<std::int64_t>(std::floor(law.at(law.to).loss / width)) + 1;
  double from = law.from;
  for (std::int64_t half = 2 * first; half < 2 * last; ++half) {
    const double end = law.inverse(static_cast<double>(half + 1) * (width / 2));
    const double to = half + 1 == 2 * last ? law.to : std::clamp(end, from, law.to);
    halves.push_back(Integrate(law, from, to, static_cast<double>(half) * (width / 2)));
    from = to;
  }
  return halves;
}

/// All outcomes in the order of their losses.
std::vector<Stretch> Outcomes(const LossLaw& law, double width) {
  std::vector<Stretch> all = HalfCells(law, width);
  for (const auto& atom : law.atoms) {
    const auto after = std::upper_bound(all.begin(), all.end(), atom.loss,
                                        [](double loss, const Stretch& one) { return loss < one.begin; });
    // An atom inside of a half cell is put behind that cell: only the order of cells matters.
    all.insert(after, {.begin = atom.loss, .mass = atom.mass, .gain = 0});
  }
  std::erase_if(all, [](const Stretch& one) { return !(one.mass > 0); });
  return all;
}

std::int64_t PointBelow(double loss, double width) {
  return static_cast<std::int64_t>(std::floor(loss / width));
}

GridLaw Empty(const std::vector<Stretch>& outcomes, double width) {
  GridLaw law{.width = width, .first = PointBelow(outcomes.front().begin, width), .mass = {}};
  law.mass.resize(static_cast<std::size_t>(PointBelow(outcomes.back().begin, width) + 5 - law.first));
  return law;
}

void Add(GridLaw& law, std::int64_t point, double mass) {
  law.mass[static_cast<std::size_t>(point - law.first)] += mass;
}

GridLaw Upper(const LossLaw& law, const std::vector<Stretch>& outcomes, double width) {
  GridLaw upper = Empty(outcomes, width);
  for (const auto& one : outcomes) {
    // Half cells may begin a rounding error below their point; an atom just below one is rounded up to it.
    const std::int64_t point = PointBelow(one.begin + 1e-9 * width, width);
    const double gain = one.GainFrom(static_cast<double>(point) * width);
    const double up = std::clamp(gain / -std::expm1(-width), 0.0, one.mass);
    Add(upper, point, one.mass - up);
    Add(upper, point + 1, up);
  }
  upper.mass.front() += law.below;
  upper.infinite = law.above;
  return upper;
}

/// What is merged into one outcome.
struct Group {
  std::int64_t target = 0;  ///< the grid point that it is to lie on
  double mass = 0;
  double gain = 0;  ///< E[1 - exp(target - loss)], not above 0
  std::vector<Stretch> members;

  /// Adds `part` of a stretch, of which `more` is the gain from the target.
  void Take(const Stretch& one, double part, double more) {
    members.push_back({.begin = one.begin, .mass = part * one.mass, .gain = part * one.gain});
    mass += part * one.mass;
    gain += part * more;
  }
};

/// The last group reaches no grid point: its lowest members are rounded down instead, until the others do.
void AddLast(GridLaw& lower, Group group) {
  for (const auto& one : group.members) {
    if (group.gain >= 0) break;
    const double more = one.GainFrom(static_cast<double>(group.target) * lower.width);
    const double part = more < 0 ? std::min(1.0, group.gain / more) : 1.0;
    Add(lower, PointBelow(one.begin, lower.width), part * one.mass);
    group.mass -= part * one.mass;
    group.gain -= part * more;
  }
  Add(lower, group.target, std::max(group.mass, 0.0));
}

/// Merges outcomes from the left, the last of them in part, until they lie on a grid point together.
GridLaw Lower(const std::vector<Stretch>& outcomes, double width) {
  GridLaw lower = Empty(outcomes, width);
  // No outcome is farther than half a cell from where its stretch begins, whatever tiny masses are rounded
  // to.
  const auto next = [&](const Stretch& one) {
    return PointBelow(std::min(one.MergedLoss(), one.begin + width / 2), width) + 1;
  };
  Group group{.target = next(outcomes.front()), .members = {}};
  for (auto one : outcomes) {
    while (one.mass > 0) {
      const double more = one.GainFrom(static_cast<double>(group.target) * width);
      const bool reached = group.gain + more >= 0;
      const double part = reached && more > 0 ? -group.gain / more : 1;
      group.Take(one, part, more);
      one = {.begin = one.begin, .mass = (1 - part) * one.mass, .gain = (1 - part) * one.gain};
      if (!reached) continue;
      Add(lower, group.target, group.mass);
      const std::int64_t beyond = group.target + 1;
      group = {.target = one.mass > 0 ? std::max(next(one), beyond) : beyond, .members = {}};
    }
  }
  AddLast(lower, std::move(group));
  return lower;
}

}  // namespace

GridBounds Discretise(const LossLaw& law, double width) {
  Require(width > 0, "Discretise: a width above 0");
  const auto outcomes = Outcomes(law, width);
  return {Upper(law, outcomes, width), Lower(outcomes, width)};
}

}  // namespace trefoil::dp

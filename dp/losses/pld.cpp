#include "dp/losses/pld.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "dp/accounting/infinity.h"
#include "dp/losses/composition.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

/// Points of a single release's law, at most.
constexpr double kMaxPoints = 1 << 17;
/// What the bounds may be apart, relative to epsilon.
constexpr double kAccuracy = 2e-4;
/// Of delta, for the tails of the noise that are cut off.
constexpr double kTailShare = 1e-7;
constexpr double kMassError = 1e-12;

struct Kind {
  LossLaw law;
  double count;
};

double CountOf(const LossEvent& event) {
  return std::visit([](const auto& one) { return static_cast<double>(one.count); }, event);
}

double TotalCount(const std::vector<LossEvent>& events) {
  double total = 0;
  for (const auto& event : events) total += CountOf(event);
  return total;
}

bool IsSymmetric(const LossEvent& event) {
  const auto* gaussian = std::get_if<SampledGaussian>(&event);
  return gaussian == nullptr || gaussian->sampling_rate == 1;
}

std::vector<Kind> KindsOf(const std::vector<LossEvent>& events, Neighbour neighbour, double tail) {
  std::vector<Kind> kinds;
  for (const auto& event : events) {
    if (const auto* gaussian = std::get_if<SampledGaussian>(&event))
      kinds.push_back({LossOf(*gaussian, neighbour, tail), CountOf(event)});
    if (const auto* laplace = std::get_if<Laplace>(&event))
      kinds.push_back({LossOf(*laplace), CountOf(event)});
    if (const auto* pure = std::get_if<PureDp>(&event)) kinds.push_back({LossOf(*pure), CountOf(event)});
    if (const auto* parts = std::get_if<ThreeLaplaceParts>(&event))
      kinds.push_back({LossOf(*parts), CountOf(event)});
  }
  return kinds;
}

double RangeOf(const LossLaw& law) {
  double least = law.has_density ? law.at(law.from).loss : law.atoms.front().loss;
  double most = law.has_density ? law.at(law.to).loss : law.atoms.front().loss;
  for (const auto& atom : law.atoms) {
    least = std::min(least, atom.loss);
    most = std::max(most, atom.loss);
  }
  return most - least;
}

std::vector<Part> UpperParts(const std::vector<Kind>& kinds, double width) {
  std::vector<Part> parts;
  for (const auto& kind : kinds) parts.push_back({Discretise(kind.law, width).upper, kind.count});
  return parts;
}

/// A width at which the two bounds are about kAccuracy apart, or the least that kMaxPoints afford. On a
/// rough grid Chernoff's bound tells epsilon and the tilt. A cell of width h moves a loss by less than h^2 in
/// the mean, while h is small, and by up to h^2 in variance, of which epsilon gets lambda / 2.
double WidthFor(const std::vector<Kind>& kinds, double delta, double total) {
  constexpr double kRough = 8;
  double least = 1e-12;
  double bulk = kInfinity;
  for (const auto& kind : kinds) {
    least = std::max(least, RangeOf(kind.law) / kMaxPoints);
    bulk = std::min(bulk, kind.law.spread / 16);
  }
  const Tilt tilt = ChooseTilt(UpperParts(kinds, least * kRough), delta);
  const double fine =
      std::sqrt(kAccuracy * std::max(tilt.epsilon, 0.01) / (0.46 * (1 + tilt.lambda) * total));
  return std::max(least, std::min({bulk, fine, 0.02 / tilt.lambda, 0.5}));
}

}  // namespace

struct Pld::Composed {
  Composition upper;
  Composition lower;
};

Pld::Pld(const std::vector<LossEvent>& events, double delta) {
  CheckDelta(delta);
  Require(!events.empty(), "Pld: at least one event");
  const double total = TotalCount(events);
  const double tail = kTailShare * delta / total;
  const bool symmetric = std::all_of(events.begin(), events.end(), IsSymmetric);
  for (const auto neighbour : {Neighbour::kRemove, Neighbour::kAdd}) {
    if (neighbour == Neighbour::kAdd && symmetric) break;
    const auto kinds = KindsOf(events, neighbour, tail);
    double width = WidthFor(kinds, delta, total);
    constexpr int kMaxWidths = 64;
    bool fits = false;
    for (int attempt = 0; !fits; ++attempt, width *= 2) {
      Require(attempt < kMaxWidths, "Pld: no grid fits");
      std::vector<Part> upper;
      std::vector<Part> lower;
      for (const auto& kind : kinds) {
        auto bounds = Discretise(kind.law, width);
        upper.push_back({std::move(bounds.upper), kind.count});
        lower.push_back({std::move(bounds.lower), kind.count});
      }
      const double lambda = ChooseTilt(upper, delta).lambda;
      Composed composed{Composition(upper, lambda), Composition(lower, lambda)};
      fits = composed.upper.fits() && composed.lower.fits();
      if (fits) neighbours_.push_back(std::move(composed));
    }
  }
}

Pld::~Pld() = default;
Pld::Pld(Pld&&) noexcept = default;
Pld& Pld::operator=(Pld&&) noexcept = default;

PldBounds Pld::Epsilon(double delta) const {
  CheckDelta(delta);
  PldBounds worst;
  for (const auto& one : neighbours_) {
    const double slack = one.upper.releases() * kMassError;
    worst.epsilon = std::max(worst.epsilon, one.upper.EpsilonAbove(delta / (1 + slack)));
    worst.lower = std::max(worst.lower, one.lower.EpsilonBelow(delta * (1 + slack)));
  }
  return worst;
}

}  // namespace trefoil::dp

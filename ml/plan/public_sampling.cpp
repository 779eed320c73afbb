#include "ml/plan/public_sampling.h"

#include <algorithm>
#include <utility>

#include "dp/mechanisms/truncated_poisson.h"
#include "ml/records.h"

namespace trefoil::ml {
namespace {

// Of each of the three bounds: at least every second draw keeps them all.
constexpr double kExceeded = 1.0 / 6;

/// The smallest m with count * P[Bin(trials, rate) > m] <= kExceeded, by the union bound over `count` of
/// them.
std::int64_t BoundOfAll(double count, std::int64_t trials, double rate) {
  std::int64_t low = -1;  // does not suffice
  std::int64_t high = trials;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (count * dp::PoissonOverflowProbability(trials, rate, middle) <= kExceeded ? high : low) = middle;
  }
  return high;
}

bool IsWithin(const std::vector<std::vector<std::int64_t>>& steps, std::int64_t rows, std::int64_t height,
              const std::vector<std::int64_t>& bounds) {
  std::vector<std::int64_t> taken(static_cast<std::size_t>(rows), 0);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (static_cast<std::int64_t>(steps[step].size()) > height) return false;
    for (const std::int64_t row : steps[step]) {
      if (++taken[static_cast<std::size_t>(row)] > bounds[step + 1]) return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t PublicHeight(std::int64_t rows, double rate, int steps) { return BoundOfAll(steps, rows, rate); }

std::int64_t MaxParticipation(std::int64_t rows, double rate, int steps) {
  return BoundOfAll(static_cast<double>(rows), steps, rate);
}

std::vector<std::int64_t> ParticipationBounds(std::int64_t rows, double rate, int steps) {
  const std::int64_t all = MaxParticipation(rows, rate, steps);
  const double count = static_cast<double>(rows) * steps;
  std::vector<std::int64_t> bounds;
  std::int64_t most = 0;
  for (int step = 0; step < steps; ++step) {
    // A bound of more steps is no smaller.
    while (most < all && count * dp::PoissonOverflowProbability(step, rate, most) > kExceeded) ++most;
    bounds.push_back(most);
  }
  bounds.push_back(all);
  return bounds;
}

std::vector<std::int64_t> ParticipationAfter(const std::vector<std::int64_t>& bounds,
                                             const std::vector<StepRange>& done, int first) {
  std::vector<bool> executed(bounds.size(), false);
  std::int64_t again = 0;
  int reached = first;
  const auto execute = [&](int step) {
    again += executed[static_cast<std::size_t>(step)] ? 1 : 0;
    executed[static_cast<std::size_t>(step)] = true;
    reached = std::max(reached, step + 1);
  };
  for (const StepRange& range : done) {
    for (int step = range.first; step < range.last; ++step) execute(step);
  }
  std::vector<std::int64_t> after{bounds[static_cast<std::size_t>(reached)] + again};
  for (int step = first; step + 1 < static_cast<int>(bounds.size()); ++step) {
    execute(step);
    after.push_back(bounds[static_cast<std::size_t>(reached)] + again);
  }
  return after;
}

PublicSchedule::PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps) {
  const auto bounds = ParticipationBounds(rows, rate, steps);
  const std::int64_t height = PublicHeight(rows, rate, steps);
  RandomStream coins(std::move(joint_seed));
  do {
    steps_.clear();
    for (int step = 0; step < steps; ++step) steps_.push_back(DrawRows(coins, rows, rate, rows));
  } while (!IsWithin(steps_, rows, height, bounds));
}

}  // namespace trefoil::ml

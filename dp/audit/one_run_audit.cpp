#include "dp/audit/one_run_audit.h"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace trefoil::dp {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

/// Beyond it no number of guesses that fits into memory leads.
constexpr double kLargestEpsilon = 64;
constexpr int kHalvings = 36;  // 64 / 2^36 is below 1e-9
constexpr std::array<std::int64_t, 4> kGuessedParts{4, 8, 16, 32};

/// To double, upwards: also by what billions of operations in 50 digits may have lost.
double RoundedUp(const Real& value) {
  const auto rounded = static_cast<double>(value * (1 + Real(1e-30)));
  return std::nextafter(rounded, std::numeric_limits<double>::infinity());
}

}  // namespace

double OneRunPValue(const CanaryGuesses& seen, double epsilon, double delta) {
  Require(0 <= seen.right && seen.right <= seen.guesses && seen.guesses <= seen.canaries,
          "OneRunPValue: right ones among guesses among canaries");
  Require(epsilon >= 0 && std::isfinite(epsilon), "OneRunPValue: an epsilon that is not negative");
  Require(delta >= 0 && delta <= 1, "OneRunPValue: a delta of 0 to 1");
  if (2 * static_cast<double>(seen.canaries) * delta > 1) return 1;
  // All terms are positive: nothing cancels.
  const Real odds = exp(-Real(epsilon));  // of a wrong guess
  Real term = pow(1 / (1 + odds), static_cast<int>(seen.guesses));
  Real tail = term;
  for (std::int64_t k = seen.guesses; k > seen.right; --k) {
    term *= odds * Real(k) / Real(seen.guesses - k + 1);
    tail += term;
  }
  Real below = 0;
  Real steepest = 0;
  for (std::int64_t k = seen.right; k > 0; --k) {
    term *= odds * Real(k) / Real(seen.guesses - k + 1);
    below += term;
    steepest = std::max(steepest, Real(below / Real(seen.right - k + 1)));
  }
  return std::min(1.0, RoundedUp(tail + 2 * Real(seen.canaries) * Real(delta) * steepest));
}

double OneRunEpsilon(const CanaryGuesses& seen, double delta, double false_alarm) {
  Require(false_alarm > 0 && false_alarm < 1, "OneRunEpsilon: a false alarm's probability between 0 and 1");
  if (OneRunPValue(seen, 0, delta) > false_alarm) return 0;
  double low = 0;  // refuted
  double high = kLargestEpsilon;
  if (OneRunPValue(seen, high, delta) <= false_alarm) return high;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (OneRunPValue(seen, middle, delta) <= false_alarm ? low : high) = middle;
  }
  return low;
}

std::vector<std::int64_t> GuessGrid(std::int64_t canaries) {
  Require(canaries >= 2, "GuessGrid: at least two canaries");
  std::vector<std::int64_t> grid;
  grid.reserve(kGuessedParts.size());
  for (const std::int64_t part : kGuessedParts) grid.push_back(std::max<std::int64_t>(1, canaries / part));
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

OneRunBound BestOneRunBound(const std::vector<ScoredCanary>& canaries, double delta, double false_alarm) {
  for (const auto& canary : canaries) Require(!std::isnan(canary.score), "BestOneRunBound: scores");
  std::vector<std::size_t> order(canaries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return canaries[a].score > canaries[b].score; });
  const auto count = static_cast<std::int64_t>(canaries.size());
  const auto grid = GuessGrid(count);
  OneRunBound best;
  for (const std::int64_t k : grid) {
    CanaryGuesses seen{.canaries = count, .guesses = 2 * k, .right = 0};
    for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
      seen.right += canaries[order[i]].included ? 1 : 0;
      seen.right += canaries[order[order.size() - 1 - i]].included ? 0 : 1;
    }
    const double epsilon = OneRunEpsilon(seen, delta, false_alarm / static_cast<double>(grid.size()));
    if (epsilon > best.epsilon || best.guesses.canaries == 0) best = {.epsilon = epsilon, .guesses = seen};
  }
  return best;
}

}  // namespace trefoil::dp

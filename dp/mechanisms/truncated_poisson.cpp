#include "dp/mechanisms/truncated_poisson.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>

#include "base/error.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kShareForCutting = 0.5;

double LogFactorial(double n) { return boost::math::lgamma(n + 1); }

/// P[X >= first] for X ~ Bin(n, q), first above the mean: the terms fall at least geometrically from there
/// on, by a ratio that falls too, so the rest of the sum is bounded by a geometric one.
double UpperTail(double n, double q, double first) {
  const double log_first = LogFactorial(n) - LogFactorial(first) - LogFactorial(n - first) +
                           first * std::log(q) + (n - first) * std::log1p(-q);
  double term = 1;
  double sum = 0;
  for (double k = first; k <= n; ++k) {
    const double ratio = (n - k) / (k + 1) * q / (1 - q);
    const double rest = term / (1 - ratio);
    if (rest <= 1e-9 * sum) {
      sum += rest;
      break;
    }
    sum += term;
    term *= ratio;
  }
  // Up by more than the rounding errors of the sum and of the logarithms, whose size is that of log n!.
  const double slack =
      1e-8 + 1e-15 * (LogFactorial(n) + std::abs(n * std::log1p(-q)) + std::abs(first * std::log(q)));
  return std::min(1.0, std::exp(log_first + std::log(sum) + slack));
}

void CheckBudget(double delta, std::int64_t steps) {
  CheckDelta(delta);
  CheckParameter(steps >= 0, "number of steps", static_cast<double>(steps), "a number not below 0");
}

/// That the others of one owner leave no room for `rows` more, at most.
double NoRoom(std::int64_t capacity, double sampling_rate, std::int64_t max_batch, std::int64_t group_rows,
              std::int64_t rows) {
  if (max_batch >= capacity || sampling_rate == 0) return 0;
  if (rows > max_batch) return 1;
  return GroupOverflowProbability(capacity - rows, sampling_rate, max_batch - rows, group_rows);
}

}  // namespace

double PoissonOverflowProbability(std::int64_t capacity, double sampling_rate, std::int64_t max_batch) {
  CheckSamplingRate(sampling_rate);
  CheckParameter(capacity >= 0, "number of rows", static_cast<double>(capacity), "a number not below 0");
  CheckParameter(max_batch >= 0, "max_batch_per_owner", static_cast<double>(max_batch),
                 "a number not below 0");
  if (max_batch >= capacity || sampling_rate == 0) return 0;
  const auto n = static_cast<double>(capacity);
  const double first = static_cast<double>(max_batch) + 1;
  if (static_cast<double>(max_batch) <= n * sampling_rate) return 1;
  return UpperTail(n, sampling_rate, first);
}

double GroupOverflowProbability(std::int64_t capacity, double sampling_rate, std::int64_t max_batch,
                                std::int64_t group_rows) {
  CheckParameter(group_rows >= 1, "rows of a group", static_cast<double>(group_rows), "a number from 1");
  const double single = PoissonOverflowProbability(capacity, sampling_rate, max_batch);  // and its checks
  if (group_rows == 1 || single == 0) return single;
  const double share = (static_cast<double>(max_batch) + 1) / static_cast<double>(capacity);
  if (share <= sampling_rate) return 1;
  const double taken = share * std::log(share / sampling_rate);
  const double left = share < 1 ? (1 - share) * (std::log1p(-share) - std::log1p(-sampling_rate)) : 0;
  // Down by more than the rounding errors of both terms and of the share, to whose change the terms answer
  // with the logarithms.
  const double slack = 1e-14 * (1 + std::abs(taken) + std::abs(left));
  const double groups = static_cast<double>(capacity) / static_cast<double>(group_rows);
  return std::min(1.0, std::exp(-groups * (taken + left - slack) * (1 - 1e-14)) * (1 + 1e-12));
}

double OverflowProbability(const BatchLimits& limits, double sampling_rate, std::int64_t units) {
  CheckParameter(units >= 1, "units of privacy", static_cast<double>(units), "a number from 1");
  const auto all = static_cast<std::size_t>(units);
  std::vector<double> worst(all + 1, 0);  // of so many units or fewer at the owners so far
  for (std::size_t owner = 0; owner < limits.capacity.size(); ++owner) {
    std::vector<double> next = worst;
    for (std::size_t here = 1; here <= all; ++here) {
      const double probability =
          NoRoom(limits.capacity[owner], sampling_rate, limits.max_batch[owner], limits.group_rows,
                 static_cast<std::int64_t>(here) * limits.group_rows);
      for (std::size_t before = 0; before + here <= all; ++before)
        next[before + here] = std::max(next[before + here], worst[before] + probability);
    }
    worst = std::move(next);
  }
  return std::min(1.0, worst[all]);
}

double OverflowOfAnyOwners(const BatchLimits& limits, double sampling_rate, std::int64_t units) {
  CheckParameter(units >= 1, "units of privacy", static_cast<double>(units), "a number from 1");
  const auto all = static_cast<std::size_t>(units);
  std::vector<double> worst(all + 1, 0);  // of so many units at as many owners as is worst
  for (std::size_t here = 1; here <= all; ++here) {
    const double probability = NoRoom(limits.capacity[0], sampling_rate, limits.max_batch[0],
                                      limits.group_rows, static_cast<std::int64_t>(here) * limits.group_rows);
    for (std::size_t sum = here; sum <= all; ++sum)
      worst[sum] = std::max(worst[sum], worst[sum - here] + probability);
  }
  return std::min(1.0, worst[all]);
}

double RemainingDelta(double delta, std::int64_t steps, double sampling_rate, const BatchLimits& limits) {
  CheckBudget(delta, steps);
  const auto count = static_cast<double>(steps);
  for (std::size_t owner = 0; owner < limits.capacity.size(); ++owner) {
    const double probability = NoRoom(limits.capacity[owner], sampling_rate, limits.max_batch[owner],
                                      limits.group_rows, limits.group_rows);
    if (count * probability <= kShareForCutting * delta) continue;
    std::ostringstream text;
    text << "training.max_batch_per_owner: found " << limits.max_batch[owner] << ", expected at least "
         << SmallestMaxBatch(delta, steps, sampling_rate, limits.capacity[owner], limits.group_rows)
         << (limits.capacity[1] + limits.capacity[2] > 0 ? " for party " + std::to_string(owner) : "")
         << ", so that cutting larger batches costs at most half of delta";
    throw ConfigError(text.str());
  }
  return delta - count * OverflowProbability(limits, sampling_rate);
}

std::int64_t SmallestMaxBatch(double delta, std::int64_t steps, double sampling_rate, std::int64_t capacity,
                              std::int64_t group_rows) {
  CheckBudget(delta, steps);
  std::int64_t low = -1;  // does not suffice
  std::int64_t high = capacity;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    const double cost =
        static_cast<double>(steps) * NoRoom(capacity, sampling_rate, middle, group_rows, group_rows);
    (cost <= kShareForCutting * delta ? high : low) = middle;
  }
  return high;
}

}  // namespace trefoil::dp

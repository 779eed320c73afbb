#include "ml/scores/target_errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trefoil::ml {
namespace {

double SquaredErrors(std::span<const double> targets, std::span<const double> predictions) {
  Require(!targets.empty() && targets.size() == predictions.size(),
          "errors are of a prediction for each target");
  double sum = 0;
  for (std::size_t k = 0; k < targets.size(); ++k)
    sum += (targets[k] - predictions[k]) * (targets[k] - predictions[k]);
  return sum;
}

}  // namespace

double RootMeanSquaredError(std::span<const double> targets, std::span<const double> predictions) {
  return std::sqrt(SquaredErrors(targets, predictions) / static_cast<double>(targets.size()));
}

std::optional<double> RSquared(std::span<const double> targets, std::span<const double> predictions) {
  const double errors = SquaredErrors(targets, predictions);
  // Rounding of their mean may leave equal targets a spread.
  if (std::all_of(targets.begin(), targets.end(), [&](double target) { return target == targets.front(); }))
    return {};
  const double mean =
      std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
  double spread = 0;
  for (const double target : targets) spread += (target - mean) * (target - mean);
  return spread > 0 ? std::optional(1 - errors / spread) : std::nullopt;
}

}  // namespace trefoil::ml

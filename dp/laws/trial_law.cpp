#include "dp/laws/trial_law.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trefoil::dp {
namespace {

/// c^k / k for k = 1, 2, ..., over their sum; log_c may be of either sign.
std::vector<double> Logarithmic(std::int64_t trials, double log_c) {
  std::vector<double> mass;
  const double largest = std::max(log_c, log_c * static_cast<double>(trials));
  for (std::int64_t k = 1; k <= trials; ++k) {
    const auto number = static_cast<double>(k);
    mass.push_back(std::exp(log_c * number - largest) / number);
  }
  const double sum = std::accumulate(mass.begin(), mass.end(), 0.0);
  for (double& one : mass) one /= sum;
  return mass;
}

double Mean(const std::vector<double>& mass) {
  double mean = 0;
  for (std::size_t k = 0; k < mass.size(); ++k) mean += static_cast<double>(k + 1) * mass[k];
  return mean;
}

}  // namespace

std::vector<std::int64_t> TrialLaw(std::int64_t trials, double mean) {
  Require(trials >= 1 && mean >= 1 && mean <= static_cast<double>(trials),
          "TrialLaw: a mean from 1 to the number of trials");
  constexpr std::int64_t kOne = std::int64_t{1} << kTrialLawBits;
  std::vector<std::int64_t> weights(static_cast<std::size_t>(trials), 0);
  if (mean == static_cast<double>(trials)) {
    weights.back() = kOne;
    return weights;
  }
  double low = -60;
  double high = 60;
  while (high - low > 1e-12) {
    const double middle = (low + high) / 2;
    (Mean(Logarithmic(trials, middle)) < mean ? low : high) = middle;
  }
  const auto mass = Logarithmic(trials, high);
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = std::max<std::int64_t>(1, std::llround(std::ldexp(mass[k], kTrialLawBits)));
  // What rounding has added or taken, the likeliest number gives or gets: trials times a half at most.
  *std::max_element(weights.begin(), weights.end()) +=
      kOne - std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  return weights;
}

double MeanTrials(const std::vector<std::int64_t>& weights) {
  const auto sum = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  double mean = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    mean += static_cast<double>(k + 1) * (static_cast<double>(weights[k]) / sum);
  return mean;
}

}  // namespace trefoil::dp

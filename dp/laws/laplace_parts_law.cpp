#include "dp/laws/laplace_parts_law.h"

#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace trefoil::dp {
namespace {

// Of negative binomials of which the three parts' sum is the difference of two.
constexpr double kShape = 1.5;
// Probabilities beyond some e^-kReach of the largest are left to the last weight.
constexpr double kReach = 45;

/// P(x) / P(x - 1) for x = 1 ... count, at x - 1, by the recurrence
///   r (x + 1 - k) P(x + 1) = (1 + r^2) x P(x) - r (x - 1 + k) P(x - 1),
/// which follows from z f'(z) = k (r z / (1 - r z) - (r / z) / (1 - r / z)) f(z) for the generating function
/// f. Backwards, where errors shrink by r^2 in each step.
std::vector<double> Ratios(double rate, std::size_t count) {
  const double r = std::exp(-rate);
  const auto warm_up = static_cast<std::size_t>(kReach / rate) + 10;
  std::vector<double> ratios(count);
  double ratio = r;
  for (std::size_t at = count + warm_up; at > 0; --at) {
    const auto x = static_cast<double>(at);
    ratio = r * (x - 1 + kShape) / ((1 + r * r) * x - r * (x + 1 - kShape) * ratio);
    if (at <= count) ratios[at - 1] = ratio;
  }
  return ratios;
}

}  // namespace

std::vector<WeightedResponse> ThreePartsResponses(double rate) {
  Require(rate > 0, "ThreePartsResponses: a rate above 0");
  if (rate < kMinPartsRate || rate > kLargestPartsRate) return {{.epsilon = rate, .weight = 1}};
  const auto ratios = Ratios(rate, static_cast<std::size_t>(kReach / rate) + 20);
  std::vector<WeightedResponse> responses;
  double probability = 1;  // of x, over that of 0
  double sum = 0;
  for (const double ratio : ratios) {
    responses.push_back({.epsilon = -std::log(ratio), .weight = probability * (1 + ratio)});
    sum += responses.back().weight;
    probability *= ratio;
  }
  // What is beyond falls by the last ratio or faster.
  responses.push_back({.epsilon = rate, .weight = 2 * probability / (1 - ratios.back())});
  sum += responses.back().weight;
  for (auto& response : responses) response.weight /= sum;
  return responses;
}

}  // namespace trefoil::dp

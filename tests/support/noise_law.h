#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpc/ring.h"
#include "tests/dp/chi_square.h"

namespace trefoil::testing_support {

/// Probabilities of a discrete Gaussian at -reach ... reach, exact to double precision.
inline std::vector<double> DiscreteGaussianLaw(double variance, int reach) {
  std::vector<double> law;
  for (int x = -reach; x <= reach; ++x) law.push_back(std::exp(-static_cast<double>(x) * x / (2 * variance)));
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

inline std::vector<double> Convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) out[i + j] += a[i] * b[j];
  }
  return out;
}

/// Fails where the numbers do not fit the sum of so many discrete Gaussians of this variance, at most 100:
/// chi-square against the exact convolution, tails merged; a right law fails for one key in a million.
inline void ExpectSumOfDiscreteGaussians(const mpc::RingMatrix& noise, double variance, int summands) {
  const std::vector<double> one = DiscreteGaussianLaw(variance, 200);
  std::vector<double> law = one;
  for (int k = 1; k < summands; ++k) law = Convolved(law, one);
  const int middle = static_cast<int>(law.size()) / 2;
  const int reach = static_cast<int>(3.4 * std::sqrt(variance * summands));
  const auto cell = [&](std::int64_t x) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(x, -reach, reach) + reach);
  };
  std::vector<double> probabilities(static_cast<std::size_t>(2 * reach + 1));
  for (int k = 0; k < static_cast<int>(law.size()); ++k)
    probabilities[cell(k - middle)] += law[static_cast<std::size_t>(k)];
  std::vector<std::size_t> counts(probabilities.size());
  for (mpc::Index k = 0; k < noise.size(); ++k) ++counts[cell(mpc::Signed(noise.data()[k]))];
  dp::ExpectFits(counts, probabilities, static_cast<double>(noise.size()));
}

}  // namespace trefoil::testing_support

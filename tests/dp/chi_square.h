#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>

namespace trefoil::dp {

/// Fails where the counts of `draws` independent draws do not fit the cells' probabilities (which sum to 1,
/// each at least about 10 / draws). A right law fails for one seed in a million (chi-square approximation).
inline void ExpectFits(const std::vector<std::size_t>& counts, const std::vector<double>& probabilities,
                       double draws) {
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * probabilities[i];
    ASSERT_GE(expected, 10);
    statistic +=
        (static_cast<double>(counts[i]) - expected) * (static_cast<double>(counts[i]) - expected) / expected;
  }
  const boost::math::chi_squared law(static_cast<double>(counts.size() - 1));
  EXPECT_LE(statistic, quantile(complement(law, 1e-6)));
}

}  // namespace trefoil::dp

#include "dp/laws/trial_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trefoil::dp {
namespace {

TEST(TrialLaw, AddsUpAndMeetsItsMean) {
  for (const std::int64_t trials : {1, 2, 5, 16, 64}) {
    for (const double share : {0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0}) {
      const double mean = 1 + share * static_cast<double>(trials - 1);
      const auto weights = TrialLaw(trials, mean);
      ASSERT_EQ(weights.size(), static_cast<std::size_t>(trials));
      EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}), std::int64_t{1} << 40);
      EXPECT_NEAR(MeanTrials(weights), mean, 1e-8);
      EXPECT_GE(*std::min_element(weights.begin(), weights.end()),
                mean < static_cast<double>(trials) ? 1 : 0);
    }
  }
}

TEST(TrialLaw, IsLogarithmic) {
  const auto weights = TrialLaw(10, 3);
  const double c = 2 * static_cast<double>(weights[1]) / static_cast<double>(weights[0]);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(weights[k]) / static_cast<double>(weights[0]),
                std::pow(c, static_cast<double>(k)) / static_cast<double>(k + 1), 1e-9);
  }
}

TEST(TrialLaw, LetsAllCompete) {
  EXPECT_EQ(TrialLaw(3, 3), (std::vector<std::int64_t>{0, 0, std::int64_t{1} << 40}));
}

TEST(TrialLaw, RefusesAMeanThatNoLawHas) {
  EXPECT_THROW((void)TrialLaw(4, 0.9), ContractError);
  EXPECT_THROW((void)TrialLaw(4, 4.1), ContractError);
  EXPECT_THROW((void)TrialLaw(0, 1), ContractError);
}

}  // namespace
}  // namespace trefoil::dp

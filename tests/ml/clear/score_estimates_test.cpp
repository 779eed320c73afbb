#include "ml/clear/score_estimates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "ml/clear/binary_scores.h"

namespace trefoil::ml {
namespace {

/// The records that a histogram counts, each in the middle of its bin.
std::vector<ScoredRecord> RecordsOf(const std::vector<double>& histogram) {
  const std::size_t bins = histogram.size() / 2;
  std::vector<ScoredRecord> records;
  for (std::size_t k = 0; k < histogram.size(); ++k) {
    const double middle = (static_cast<double>(k % bins) + 0.5) / static_cast<double>(bins);
    for (int n = 0; n < histogram[k]; ++n) records.push_back({.score = middle, .yes = k >= bins});
  }
  return records;
}

double BalancedAccuracy(const std::vector<ScoredRecord>& records, double threshold) {
  double right[] = {0, 0};
  double all[] = {0, 0};
  for (const auto& [score, yes] : records) {
    ++all[yes ? 1 : 0];
    if ((score > threshold) == yes) ++right[yes ? 1 : 0];
  }
  return (right[0] / all[0] + right[1] / all[1]) / 2;
}

TEST(EstimatesOf, AreThoseOfRecordsInTheMiddlesOfTheirBins) {
  std::mt19937_64 generator(5);
  for (const std::size_t bins : {2U, 5U, 20U}) {
    std::vector<double> histogram(2 * bins);
    for (double& count : histogram) count = static_cast<double>(generator() % 9);
    histogram[0] = histogram[bins] = 3;  // of both classes
    const auto records = RecordsOf(histogram);
    const ScoreEstimates estimates = EstimatesOf(histogram);
    EXPECT_NEAR(estimates.auc.value(), Auc(records).value(), 1e-12);
    double loss = 0;
    for (const auto& [score, yes] : records) loss -= std::log(yes ? score : 1 - score);
    EXPECT_NEAR(estimates.log_loss.value(), loss / static_cast<double>(records.size()), 1e-12);
    const auto calibration = CalibrationOf(records, static_cast<int>(bins));
    EXPECT_NEAR(estimates.calibration_error.value(), ExpectedCalibrationError(calibration), 1e-12);
    double best = 0;
    for (std::size_t edge = 1; edge < bins; ++edge)
      best = std::max(best, BalancedAccuracy(records, static_cast<double>(edge) / static_cast<double>(bins)));
    EXPECT_NEAR(estimates.balanced_accuracy.value(), best, 1e-12);
    EXPECT_NEAR(BalancedAccuracy(records, estimates.threshold), best, 1e-12);
  }
}

TEST(EstimatesOf, TakesTheEdgeNearestToOneHalfOfEqualOnes) {
  EXPECT_EQ(EstimatesOf({4, 0, 0, 0, 0, 0, 0, 0, 0, 4}).threshold, 0.4);  // 0.2 to 0.8 are perfect
  EXPECT_EQ(EstimatesOf({8, 2, 0, 0, 0, 1, 9, 0, 0, 0}).threshold, 0.2);
}

TEST(EstimatesOf, TakesCountsBelowZeroForNone) {
  EXPECT_EQ(EstimatesOf({5, -3, -2, 4}).auc, 1.0);
  const ScoreEstimates one_class = EstimatesOf({5, 6, -1, -2});
  EXPECT_FALSE(one_class.auc);
  EXPECT_FALSE(one_class.balanced_accuracy);
  EXPECT_EQ(one_class.threshold, 0.5);
  EXPECT_TRUE(one_class.log_loss);
  EXPECT_FALSE(EstimatesOf({-1, -1, 0, 0}).log_loss);
  EXPECT_THROW((void)EstimatesOf({1, 2}), ContractError);
}

}  // namespace
}  // namespace trefoil::ml

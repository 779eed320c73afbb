#include "ml/scores/score_estimates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "ml/scores/binary_scores.h"

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
    const ScoreEstimates estimates = EstimatesOf(histogram, 0);
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
    EXPECT_NEAR(BalancedAccuracy(records, estimates.threshold.value()), best, 1e-12);
  }
}

TEST(EstimatesOf, TakesTheEdgeNearestToOneHalfOfEqualOnes) {
  EXPECT_EQ(EstimatesOf({4, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 0).threshold, 0.4);  // 0.2 to 0.8 are perfect
  EXPECT_EQ(EstimatesOf({8, 2, 0, 0, 0, 1, 9, 0, 0, 0}, 0).threshold, 0.2);
}

// The mean of n estimates is within five of their deviations over sqrt(n) but for 6e-7, and a thousandth that
// ratios of noisy sums are off by.
TEST(EstimatesOf, KeepTheMeanUnderNoiseWhoseDeviationTheySay) {
  std::vector<double> histogram(40, 0);
  for (std::size_t bin = 0; bin < 20; ++bin) {
    histogram[bin] = 1800.0 / 210 * static_cast<double>(20 - bin);
    histogram[20 + bin] = bin < 10 ? 2 : 18;
  }
  constexpr double kDeviation = 3.5;
  constexpr int kRuns = 2000;
  const ScoreEstimates exact = EstimatesOf(histogram, kDeviation);
  std::mt19937_64 generator(7);
  std::normal_distribution<double> noise(0, kDeviation);
  double auc = 0;
  double squares = 0;
  double loss = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> noisy = histogram;
    for (double& count : noisy) count += noise(generator);
    const ScoreEstimates estimates = EstimatesOf(noisy, kDeviation);
    auc += estimates.auc.value() / kRuns;
    loss += estimates.log_loss.value() / kRuns;
    squares += std::pow(*estimates.auc - *exact.auc, 2) / kRuns;
  }
  EXPECT_NEAR(auc, *exact.auc, 5 * *exact.auc_noise / std::sqrt(kRuns) + 0.001);
  EXPECT_NEAR(std::sqrt(squares), *exact.auc_noise, 0.15 * *exact.auc_noise);
  EXPECT_NEAR(loss, *exact.log_loss, 0.005);
}

TEST(EstimatesOf, SayNothingWhereNoiseCouldMakeUpAClass) {
  EXPECT_FALSE(EstimatesOf({5, 6, -1, -2}, 0).auc);
  const std::vector<double> few{500, 300, 6, 8};
  EXPECT_TRUE(EstimatesOf(few, 3).auc);  // 14 against 3 * 3 * sqrt(2) = 12.7
  const ScoreEstimates none = EstimatesOf(few, 4);
  EXPECT_FALSE(none.auc || none.auc_noise || none.log_loss || none.calibration_error || none.threshold ||
               none.balanced_accuracy);
  EXPECT_THROW((void)EstimatesOf({1, 2}, 0), ContractError);
}

TEST(TableEstimatesOf, AreTheSharesOfRowsAndColumns) {
  // Of class 0 8 of 10 are right, of class 1 15 of 20, of class 2 12 of 30.
  const auto estimates = TableEstimatesOf({8, 1, 1, 5, 15, 0, 10, 8, 12}, 0.1);
  const std::vector<double> recall{0.8, 0.75, 0.4};
  const std::vector<double> precision{8.0 / 23, 15.0 / 24, 12.0 / 13};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_DOUBLE_EQ(estimates.recall[k].value().value, recall[k]);
    EXPECT_DOUBLE_EQ(estimates.precision[k].value().value, precision[k]);
  }
  EXPECT_DOUBLE_EQ(estimates.balanced_accuracy.value(), (0.8 + 0.75 + 0.4) / 3);
}

TEST(TableEstimatesOf, SayNothingOfWhatNoiseCouldMakeUp) {
  // A class of 5 records, and one that none is taken for: three deviations of a sum of three counts are 5.2.
  const auto estimates = TableEstimatesOf({2, 3, 0, 5, 95, 0, 20, 80, -1}, 1);
  EXPECT_FALSE(estimates.recall[0]);
  EXPECT_TRUE(estimates.recall[1] && estimates.recall[2]);
  EXPECT_TRUE(estimates.precision[0] && estimates.precision[1]);
  EXPECT_FALSE(estimates.precision[2]);
  EXPECT_FALSE(estimates.balanced_accuracy);
  EXPECT_EQ(estimates.recall[2]->value, 0);  // a negative count is cut to no share below 0
}

// The deviation of 4,000 shares of counts with noise, within 5/sqrt(8000) of the estimate but for 6e-7, and 1
// % for what first order leaves out.
TEST(TableEstimatesOf, HaveTheDeviationThatTheNoiseGivesThem) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 2);
  const std::vector<double> exact{800, 100, 100, 300, 600, 100, 50, 50, 900};
  const auto estimates = TableEstimatesOf(exact, 2);
  std::vector<double> squares(3, 0);
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    auto noisy = exact;
    for (double& count : noisy) count += normal(random);
    const auto found = TableEstimatesOf(noisy, 2);
    for (std::size_t k = 0; k < 3; ++k)
      squares[k] += std::pow(found.recall[k]->value - estimates.recall[k]->value, 2) / kRuns;
  }
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(std::sqrt(squares[k]) / estimates.recall[k]->noise, 1, 5 / std::sqrt(2.0 * kRuns) + 0.01)
        << k;
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/scores/binary_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace trefoil::ml {
namespace {

using ScoredRecords = std::vector<ScoredRecord>;

/// Of all pairs of one yes and one no, how many are in order, ties counted half.
std::optional<double> AucByPairs(const ScoredRecords& records) {
  double right = 0;
  double pairs = 0;
  for (const auto& a : records) {
    for (const auto& b : records) {
      if (!a.yes || b.yes) continue;
      ++pairs;
      right += a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0;
    }
  }
  return pairs == 0 ? std::nullopt : std::optional(right / pairs);
}

/// Random records in the fifties, of `values` scores over [0, 1] at most; trial 0 and 1 have one kind only.
ScoredRecords RandomRecords(std::mt19937_64& generator, int trial, unsigned values) {
  ScoredRecords records(1 + generator() % 50);
  for (auto& [score, yes] : records) {
    score = static_cast<double>(generator() % values) / (values == 1 ? 1 : values - 1);
    yes = trial > 1 ? generator() % 3 == 0 : trial == 1;
  }
  return records;
}

TEST(Auc, IsTheShareOfPairsInOrder) {
  EXPECT_EQ(Auc({{0.1, false}, {0.4, false}, {0.35, true}, {0.8, true}}), 0.75);
  EXPECT_EQ(Auc({{1, true}, {0, false}}), 1.0);
  EXPECT_EQ(Auc({{0, true}, {1, false}}), 0.0);
  EXPECT_EQ(Auc({{3, true}, {3, false}, {3, true}}), 0.5);  // all one score
  EXPECT_EQ(Auc({{3, true}, {4, true}}), std::nullopt);
  EXPECT_EQ(Auc({}), std::nullopt);
  std::mt19937_64 generator(11);
  for (int trial = 0; trial < 300; ++trial) {
    const auto records = RandomRecords(generator, trial, trial % 7 == 0 ? 1U : trial % 2 == 0 ? 4U : 10'000U);
    EXPECT_EQ(Auc(records), AucByPairs(records));  // both are the same integers, divided once
  }
}

TEST(Auc, CountsMorePairsThanAnIntOf32BitsHas) {
  ScoredRecords records(200'000);
  for (std::size_t k = 0; k < records.size(); ++k)
    records[k] = {.score = static_cast<double>(k), .yes = k % 2 == 1};
  // Yes k is above those no's below it: (n/2)(n/2 + 1)/2 of (n/2)^2 pairs.
  EXPECT_DOUBLE_EQ(*Auc(records), 100'001.0 / 200'000.0);
}

TEST(RocCurve, HasAPointForEachThreshold) {
  const ScoredRecords records{{0.9, true}, {0.8, false}, {0.8, true}, {0.3, true}, {0.1, false}};
  const auto curve = RocCurve(records, 5);
  ASSERT_EQ(curve.size(), 5U);
  const std::vector<std::pair<double, double>> expected{
      {0, 0}, {0, 1.0 / 3}, {0.5, 2.0 / 3}, {0.5, 1}, {1, 1}};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(curve[k].false_positives, expected[k].first) << k;
    EXPECT_EQ(curve[k].true_positives, expected[k].second) << k;
  }
  EXPECT_TRUE(RocCurve({{1, true}}, 5).empty());
  EXPECT_THROW((void)RocCurve(records, 0), ContractError);
}

TEST(RocCurve, LiesOverTheAreaAndIsThinned) {
  std::mt19937_64 generator(13);
  for (int trial = 2; trial < 200; ++trial) {
    const auto records = RandomRecords(generator, trial, trial % 2 == 0 ? 5U : 1'000U);
    const auto area = Auc(records);
    const auto curve = RocCurve(records, static_cast<int>(records.size()));
    ASSERT_EQ(curve.empty(), !area);
    if (!area) continue;
    double sum = 0;
    for (std::size_t k = 1; k < curve.size(); ++k)
      sum += (curve[k].false_positives - curve[k - 1].false_positives) *
             (curve[k].true_positives + curve[k - 1].true_positives) / 2;
    EXPECT_NEAR(sum, *area, 1e-12);
    const auto thin = RocCurve(records, 6);
    EXPECT_LE(thin.size(), 7U);
    for (const auto& ends : {curve, thin}) {
      EXPECT_EQ(ends.front().false_positives + ends.front().true_positives, 0);
      EXPECT_EQ(ends.back().false_positives + ends.back().true_positives, 2);
    }
    for (const auto& point : thin) {
      EXPECT_TRUE(std::any_of(curve.begin(), curve.end(), [&](const RocPoint& one) {
        return one.false_positives == point.false_positives && one.true_positives == point.true_positives;
      }));
    }
  }
}

TEST(Calibration, PutsRecordsIntoBins) {
  const auto bins =
      CalibrationOf({{0, false}, {0.25, true}, {0.3, true}, {0.45, false}, {1, true}, {0.9, false}}, 4);
  ASSERT_EQ(bins.size(), 4U);
  EXPECT_EQ(bins[0].records, 1);  // 0.25 begins the next
  EXPECT_EQ(bins[1].records, 3);
  EXPECT_DOUBLE_EQ(bins[1].said, 1.0 / 3);
  EXPECT_DOUBLE_EQ(bins[1].true_share, 2.0 / 3);
  EXPECT_EQ(bins[2].records, 0);
  EXPECT_EQ(bins[2].said, 0);
  EXPECT_EQ(bins[3].records, 2);  // 1 is in the last
  EXPECT_DOUBLE_EQ(ExpectedCalibrationError(bins), (0 + 3 * (1.0 / 3) + 2 * 0.45) / 6);
  EXPECT_EQ(ExpectedCalibrationError(CalibrationOf({{1, true}, {0, false}}, 10)), 0);
  EXPECT_EQ(ExpectedCalibrationError(CalibrationOf({{1, false}, {0, true}}, 10)), 1);
  EXPECT_THROW((void)CalibrationOf({{1.5, true}}, 4), ContractError);
  EXPECT_THROW((void)CalibrationOf({{std::nan(""), true}}, 4), ContractError);
  EXPECT_THROW((void)ExpectedCalibrationError(CalibrationOf({}, 4)), ContractError);
}

TEST(Calibration, AgreesWithItsDefinition) {
  std::mt19937_64 generator(17);
  for (int trial = 0; trial < 100; ++trial) {
    const auto records = RandomRecords(generator, trial, 997);
    const int bins = 1 + trial % 12;
    double error = 0;  // sum over bins of |sum of scores - yes|, over all records
    for (int bin = 0; bin < bins; ++bin) {
      double difference = 0;
      for (const auto& [score, yes] : records) {
        const bool last = bin + 1 == bins;
        if (score * bins >= bin && (score * bins < bin + 1 || last)) difference += score - (yes ? 1 : 0);
      }
      error += std::abs(difference);
    }
    EXPECT_NEAR(ExpectedCalibrationError(CalibrationOf(records, bins)),
                error / static_cast<double>(records.size()), 1e-12);
  }
}

}  // namespace
}  // namespace trefoil::ml

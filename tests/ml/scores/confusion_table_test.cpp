#include "ml/scores/confusion_table.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trefoil::ml {
namespace {

using Pairs = std::vector<std::pair<int, int>>;  // actual, predicted

ConfusionTable TableOf(int classes, const Pairs& pairs) {
  ConfusionTable table(classes);
  for (const auto& [actual, predicted] : pairs) table.Add(actual, predicted);
  return table;
}

TEST(ConfusionTable, CountsAsByHand) {
  const auto table = TableOf(3, {{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {2, 0}, {0, 0}});
  EXPECT_EQ(table.records(), 8);
  EXPECT_EQ(table.correct(), 4);
  EXPECT_EQ(table.count(2, 0), 2);
  EXPECT_EQ(table.records(0), 4);
  EXPECT_EQ(table.predicted(0), 6);
  EXPECT_EQ(table.accuracy(), 0.5);
  EXPECT_EQ(table.recall(0), 0.75);
  EXPECT_EQ(table.recall(2), 0.0);
  EXPECT_EQ(table.precision(0), 0.5);
  EXPECT_EQ(table.precision(2), std::nullopt);  // no record was taken for it
  EXPECT_DOUBLE_EQ(table.balanced_accuracy(), (0.75 + 0.5 + 0) / 3);
}

TEST(ConfusionTable, LeavesOutClassesWithoutRecords) {
  const auto table = TableOf(3, {{1, 1}, {1, 1}, {1, 2}, {1, 1}});
  EXPECT_EQ(table.recall(0), std::nullopt);
  EXPECT_EQ(table.precision(2), 0.0);
  EXPECT_EQ(table.balanced_accuracy(), 0.75);
  const ConfusionTable none(2);
  EXPECT_EQ(none.records(), 0);
  EXPECT_THROW((void)none.accuracy(), ContractError);
  EXPECT_THROW((void)none.balanced_accuracy(), ContractError);
  EXPECT_THROW((void)ConfusionTable(1), ContractError);
}

/// Of the pairs for which `whole` holds, the share for which `part` does.
template <typename Part, typename Whole>
std::optional<double> Share(const Pairs& pairs, const Part& part, const Whole& whole) {
  int parts = 0;
  int wholes = 0;
  for (const auto& pair : pairs) {
    wholes += whole(pair) ? 1 : 0;
    parts += whole(pair) && part(pair) ? 1 : 0;
  }
  return wholes == 0 ? std::nullopt : std::optional(static_cast<double>(parts) / wholes);
}

TEST(ConfusionTable, AgreesWithTheDefinitionsRecordByRecord) {
  std::mt19937_64 generator(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int classes = 2 + trial % 5;
    Pairs pairs(1 + generator() % 40);
    for (auto& [actual, predicted] : pairs) {
      actual = static_cast<int>(generator() % static_cast<unsigned>(classes));
      predicted = static_cast<int>(generator() % static_cast<unsigned>(classes));
    }
    const auto table = TableOf(classes, pairs);
    const auto right = [](const auto& pair) { return pair.first == pair.second; };
    EXPECT_EQ(table.accuracy(), Share(pairs, right, [](const auto&) { return true; }));
    double sum = 0;
    int present = 0;
    for (int k = 0; k < classes; ++k) {
      const auto recall = Share(pairs, right, [&](const auto& pair) { return pair.first == k; });
      EXPECT_EQ(table.recall(k), recall);
      EXPECT_EQ(table.precision(k), Share(pairs, right, [&](const auto& pair) { return pair.second == k; }));
      if (!recall) continue;
      sum += *recall;
      ++present;
    }
    EXPECT_DOUBLE_EQ(table.balanced_accuracy(), sum / present);
  }
}

}  // namespace
}  // namespace trefoil::ml

#include "ml/clear/teachers.h"

#include <gtest/gtest.h>

#include <random>

namespace trefoil::ml {
namespace {

/// Records of three classes around different places.
OwnRecords Slice(std::uint64_t seed, Eigen::Index rows) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  OwnRecords slice;
  slice.x.resize(rows, 4);
  for (Eigen::Index i = 0; i < rows; ++i) {
    slice.y.push_back(static_cast<int>(i % 3));
    for (Eigen::Index k = 0; k < 4; ++k) slice.x(i, k) = normal(generator) + (i % 3 == k ? 1.0F : 0.0F);
  }
  return slice;
}

constexpr ClassifierSettings kSettings{.lambda = 0.01};

TEST(LabelByTeachers, GivesEachSliceAClassifierOfItsOwn) {
  const std::vector<OwnRecords> slices{Slice(1, 12), Slice(2, 9), Slice(3, 1), Slice(4, 30)};
  const auto queries = Slice(5, 40).x;
  ThreadPool pool(3);
  ThreadPool one(1);
  const auto labels = LabelByTeachers(slices, queries, 3, kSettings, pool);
  ASSERT_EQ(labels.size(), slices.size());
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const auto choices = Classify(FitClassifier(slices[k], 3, kSettings, one), queries, one);
    ASSERT_EQ(labels[k].size(), choices.size());
    for (std::size_t query = 0; query < choices.size(); ++query)
      EXPECT_EQ(labels[k][query], choices[query].label);
  }
  EXPECT_EQ(labels, LabelByTeachers(slices, queries, 3, kSettings, one));
}

// What the privacy of PATE rests on: one record reaches one teacher's labels only, and a teacher that has its
// first record adds a vote.
TEST(LabelByTeachers, ChangesOneTeachersLabelsWithOneRecord) {
  ThreadPool pool(2);
  const auto queries = Slice(6, 50).x;
  std::vector<OwnRecords> slices{Slice(1, 12), Slice(2, 6), {}, Slice(4, 12)};
  slices[2].x.resize(0, 4);
  const auto before = LabelByTeachers(slices, queries, 3, kSettings, pool);
  ASSERT_EQ(before.size(), 3U);  // one abstains
  auto more = slices;
  more[1].x.conservativeResize(7, 4);
  more[1].x.row(6) = 40 * Slice(7, 1).x;
  more[1].y.push_back(2);
  const auto after = LabelByTeachers(more, queries, 3, kSettings, pool);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_NE(after[1], before[1]);
  EXPECT_EQ(after[2], before[2]);
  slices[2] = Slice(8, 1);
  const auto filled = LabelByTeachers(slices, queries, 3, kSettings, pool);
  ASSERT_EQ(filled.size(), 4U);
  EXPECT_EQ(filled[0], before[0]);
  EXPECT_EQ(filled[1], before[1]);
  EXPECT_EQ(filled[3], before[2]);
}

}  // namespace
}  // namespace trefoil::ml

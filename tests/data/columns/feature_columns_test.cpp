#include "data/columns/feature_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/columns/column_encoder.h"

namespace trefoil::data {
namespace {

using testing::ElementsAre;

DataSpec MixedColumns() {
  DataSpec spec;
  spec.format = Format::kCsv;
  spec.columns = {{.name = "age", .mean = 40, .scale = 20, .values = {}, .missing_indicator = true},
                  {.name = "ward", .kind = ColumnKind::kCategory, .values = {"A", "B"}},
                  {.name = "out", .values = {}},
                  {.name = "skip", .kind = ColumnKind::kIgnore, .values = {}},
                  {.name = "size", .kind = ColumnKind::kBin, .values = {}, .edges = {0.5, 1234567.5}},
                  {.name = "day", .kind = ColumnKind::kDate, .mean = 100, .scale = 50, .values = {}}};
  spec.columns[5].date_format = "%Y-%m-%d";
  spec.columns[5].origin = "2000-01-01";
  spec.label.column = "out";
  spec.features = CountFeatures(spec);
  return spec;
}

TEST(FeatureColumns, AreThoseOfARowInItsOrder) {
  const auto spec = MixedColumns();
  const auto all = FeatureColumns(spec);
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.column + "/" + one.value);
  EXPECT_THAT(names, ElementsAre("age/", "age/(missing)", "ward/A", "ward/B", "size/below 0.5",
                                 "size/0.5 to below 1234567.5", "size/1234567.5 and above", "day/"));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(spec.features));
}

/// What a column says of its number is what the encoder makes of a field.
TEST(FeatureColumns, HaveTheMeansAndScalesOfTheEncoder) {
  const auto spec = MixedColumns();
  const auto all = FeatureColumns(spec);
  std::array<float, 2> numbers{};
  ASSERT_FALSE(ColumnEncoder(spec.columns[0], spec).Encode("50", numbers.data()));
  EXPECT_EQ(numbers[0], static_cast<float>((50 - all[0].mean) / all[0].scale));
  ASSERT_FALSE(ColumnEncoder(spec.columns[5], spec).Encode("2000-01-11", numbers.data()));
  EXPECT_EQ(numbers[0], static_cast<float>((10 - all[7].mean) / all[7].scale));
  for (const std::size_t k : {1, 2, 3, 4, 5, 6}) {
    EXPECT_EQ(all[k].mean, 0) << k;
    EXPECT_EQ(all[k].scale, 1) << k;
  }
}

TEST(FeatureColumns, HaveTheRangesOfTheEncoder) {
  auto spec = MixedColumns();
  EXPECT_LT(FeatureColumns(spec)[0].low, -1e300);
  EXPECT_GT(FeatureColumns(spec)[0].high, 1e300);
  spec.columns[0].low = 20;
  spec.columns[0].high = 30;
  const auto all = FeatureColumns(spec);
  float number = 0;
  ASSERT_FALSE(ColumnEncoder(spec.columns[0], spec).Encode("50", &number));
  EXPECT_EQ(number, static_cast<float>((all[0].high - all[0].mean) / all[0].scale));
  ASSERT_FALSE(ColumnEncoder(spec.columns[0], spec).Encode("-50", &number));
  EXPECT_EQ(number, static_cast<float>((all[0].low - all[0].mean) / all[0].scale));
}

TEST(FeatureColumns, AreNumberedWhereTheFormatHasNoNames) {
  DataSpec spec;
  spec.format = Format::kIdx;
  spec.features = 3;
  spec.scale = 255;
  const auto all = FeatureColumns(spec);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].column, "x3");
  EXPECT_EQ(all[2].scale, 255);
}

}  // namespace
}  // namespace trefoil::data

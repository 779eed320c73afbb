#include "data/features/features.h"

#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

TEST(Extract, LeavesTheTableAsItIsWithoutAMethod) {
  ThreadPool pool(1);
  Table table{.x = Matrix::Random(3, 5), .y = {0, 1, 2}};
  const Matrix before = table.x;
  EXPECT_EQ(ExtractedColumns({}, 5), 5);
  Extract({}, table, pool);
  EXPECT_EQ(table.x, before);
}

TEST(Extract, ReplacesTheFeaturesAndKeepsTheLabels) {
  ThreadPool pool(1);
  const FeatureSpec spec{.method = FeatureMethod::kHog, .image = {8, 12}};
  Table table{.x = Matrix::Random(3, 96), .y = {0, 1, 2}};
  const Matrix expected = ExtractHog(table.x, spec.image, spec.hog, pool);
  EXPECT_EQ(ExtractedColumns(spec, 96), expected.cols());
  Extract(spec, table, pool);
  EXPECT_EQ(table.x, expected);
  EXPECT_EQ(table.y, (std::vector<int>{0, 1, 2}));
}

TEST(Extract, PutsHashedTextBesideOtherFeatures) {
  ThreadPool pool(1);
  const FeatureSpec spec{.method = FeatureMethod::kHashText, .hash_text = {.dimension = 50}};
  Table table{.x = Matrix::Random(2, 3), .y = {0, 1}, .texts = {{"one text"}, {"another"}}};
  Matrix expected(2, 53);
  expected << table.x, HashText(table.texts, spec.hash_text, pool);
  EXPECT_EQ(ExtractedColumns(spec, 3), 53);
  Extract(spec, table, pool);
  EXPECT_EQ(table.x, expected);
  EXPECT_EQ(table.y, (std::vector<int>{0, 1}));
  EXPECT_TRUE(table.texts.empty());
  Table text_only{.x = Matrix(1, 0), .y = {0}, .texts = {{"one text"}}};
  Extract(spec, text_only, pool);
  EXPECT_EQ(text_only.x.row(0), expected.row(0).rightCols(50));
}

TEST(Extract, RefusesImagesOfAnotherSize) {
  ThreadPool pool(1);
  Table table{.x = Matrix::Zero(1, 95), .y = {0}};
  const FeatureSpec spec{.method = FeatureMethod::kHog, .image = {8, 12}};
  EXPECT_EQ(ErrorText<ConfigError>([&] { Extract(spec, table, pool); }),
            "features.image: found 8 x 12 pixels, expected height x width of 95 features");
  EXPECT_EQ(ErrorText<ConfigError>(
                [] { (void)ExtractedColumns({.method = FeatureMethod::kHog, .image = {}}, 784); }),
            "features.image: found 0 x 0 pixels, expected height x width of 784 features");
  EXPECT_EQ(ErrorText<ConfigError>([] {
              (void)ExtractedColumns({.method = FeatureMethod::kHog, .image = {8, 12, 3}}, 96);
            }),
            "features.image: found 8 x 12 x 3 pixels, expected height x width x channels of 96 features");
}

}  // namespace
}  // namespace trefoil::data

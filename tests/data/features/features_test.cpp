#include "data/features/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/features/onnx_writer.h"
#include "data/formats/file.h"
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

/// Sums of one of three channels, which lie one behind the other, of images of 2 x 2 pixels.
std::filesystem::path WriteChannelSum(const TemporaryFolder& folder, std::size_t channel) {
  std::vector<float> weights(12, 0);
  std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(4 * channel), 4, 1.0F);
  OnnxWriter model;
  model.AddConstant("w", {1, 12}, weights);
  model.AddConstant("b", {1}, std::vector<float>{0});
  model.AddNode("Flatten", {"x"}, "f", {{"axis", 1}});
  model.AddNode("Gemm", {"f", "w", "b"}, "y", {{"transB", 1}});
  return folder.Put("sum.onnx", model.Finish({"x", {1, 3, 2, 2}}, {"y", {1, 1}}));
}

TEST(Extract, PutsAnImagesChannelsInTheOrderThatANetworkWants) {
  if (!OnnxIsAvailable()) GTEST_SKIP() << "built without OpenCV (TREFOIL_ONNX)";
  const TemporaryFolder folder;
  ThreadPool pool(1);
  Matrix rows(2, 12);
  rows << 1, 10, 100, 2, 20, 200, 3, 30, 300, 4, 40, 400,  // four pixels of three channels
      5, 50, 500, 6, 60, 600, 7, 70, 700, 8, 80, 800;
  for (const std::size_t channel : {0U, 1U, 2U}) {
    const auto model = WriteChannelSum(folder, channel);
    FeatureSpec spec{.method = FeatureMethod::kOnnx,
                     .image = {2, 2, 3},
                     .onnx = {.model_sha256 = FileSha256(model), .input = {3, 2, 2}, .outputs = 1}};
    Table table{.x = rows, .y = {0, 1}};
    Extract(spec, table, pool, model);
    const float unit = std::pow(10.0F, static_cast<float>(channel));
    Matrix expected(2, 1);
    expected << 10 * unit, 26 * unit;
    EXPECT_EQ(table.x, expected);
    spec.image = {};  // an array's values are given as they are
    table.x = rows;
    Extract(spec, table, pool, model);
    const Matrix sums = rows.middleCols(static_cast<Eigen::Index>(4 * channel), 4).rowwise().sum();
    EXPECT_EQ(table.x, sums);
  }
}

TEST(Extract, RefusesAnInputThatIsNoOrderOfTheImage) {
  FeatureSpec spec{.method = FeatureMethod::kOnnx,
                   .image = {2, 4, 3},
                   .onnx = {.model_sha256 = std::string(64, 'a'), .input = {3, 4, 2}, .outputs = 1}};
  const auto text = [&](const std::vector<int>& input) {
    spec.onnx.input = input;
    return ErrorText<ConfigError>([&] { (void)ExtractedColumns(spec, spec.image.values()); });
  };
  EXPECT_EQ(
      text({3, 4, 2}),
      "features.input: found [3, 4, 2], expected [3, 2, 4], [2, 4, 3] or one length: images are 2 x 4 x "
      "3 (features.image)");
  for (const auto& other : {std::vector<int>{4, 2, 3}, {1, 3, 2, 4}, {6, 4}, {3, 8}})
    EXPECT_NE(text(other), "");
  for (const auto& right : {std::vector<int>{3, 2, 4}, {2, 4, 3}, {24}}) EXPECT_EQ(text(right), "");
  spec.image = {2, 4};
  for (const auto& right : {std::vector<int>{1, 2, 4}, {2, 4, 1}, {2, 4}, {8}}) EXPECT_EQ(text(right), "");
  EXPECT_NE(text({4, 2}), "");
  spec.image = {};
  EXPECT_EQ(ErrorText<ConfigError>([&] { (void)ExtractedColumns(spec, 8); }), "");
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

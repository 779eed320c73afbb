#include "data/features/hog.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/data/random_images.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

/// The definition in long double, one pixel, bin and block at a time: every bin takes the part of a gradient
/// that the hat function around its centre gives it.
class SlowHog {
 public:
  SlowHog(const Matrix& images, Eigen::Index image, const ImageSize& size, const HogSpec& spec)
      : images_(images), image_(image), size_(size), spec_(spec) {}

  [[nodiscard]] std::vector<long double> Features() const {
    std::vector<long double> features;
    for (int row = 0; (row + spec_.block) * spec_.cell <= size_.height; ++row) {
      for (int column = 0; (column + spec_.block) * spec_.cell <= size_.width; ++column)
        AppendBlock(row, column, features);
    }
    return features;
  }

 private:
  [[nodiscard]] long double Pixel(int row, int column, int channel) const {
    row = std::min(std::max(row, 0), size_.height - 1);
    column = std::min(std::max(column, 0), size_.width - 1);
    return images_(image_, (row * size_.width + column) * size_.channels + channel);
  }

  [[nodiscard]] long double Bin(int cell_row, int cell_column, int bin) const {
    const long double width = 180.0L / spec_.orientations;
    long double sum = 0;
    for (int row = cell_row * spec_.cell; row < (cell_row + 1) * spec_.cell; ++row) {
      for (int column = cell_column * spec_.cell; column < (cell_column + 1) * spec_.cell; ++column) {
        long double down = 0;
        long double right = 0;
        for (int channel = 0; channel < size_.channels; ++channel) {
          const long double d = Pixel(row + 1, column, channel) - Pixel(row - 1, column, channel);
          const long double r = Pixel(row, column + 1, channel) - Pixel(row, column - 1, channel);
          if (std::hypot(d, r) > std::hypot(down, right)) std::tie(down, right) = std::pair(d, r);
        }
        const long double angle = std::atan2(down, right) * 180.0L / std::acos(-1.0L);
        // Over all turns of the circle, so that bins at both ends of the half circle are neighbours.
        for (int turn = -3; turn <= 3; ++turn) {
          const long double centre = (bin + 0.5L) * width + turn * 180.0L;
          sum += std::max(0.0L, 1 - std::abs(angle - centre) / width) * std::hypot(down, right);
        }
      }
    }
    return sum;
  }

  void AppendBlock(int row, int column, std::vector<long double>& features) const {
    std::vector<long double> block;
    long double squares = 1e-10L * spec_.block * spec_.block;
    for (int i = 0; i < spec_.block; ++i) {
      for (int k = 0; k < spec_.block; ++k) {
        for (int bin = 0; bin < spec_.orientations; ++bin) {
          block.push_back(Bin(row + i, column + k, bin));
          squares += block.back() * block.back();
        }
      }
    }
    for (const auto value : block) features.push_back(value / std::sqrt(squares));
  }

  const Matrix& images_;
  Eigen::Index image_;
  ImageSize size_;
  HogSpec spec_;
};

struct HogCase {
  std::string name;
  ImageSize size;
  HogSpec spec;
  std::int64_t features;
};

class HogTest : public testing::TestWithParam<HogCase> {};

TEST_P(HogTest, IsTheDefinition) {
  const auto& [name, size, spec, features] = GetParam();
  ThreadPool pool(2);
  const Matrix images = RandomImages(3, size, 1);

  const Matrix fast = ExtractHog(images, size, spec, pool);

  ASSERT_EQ(fast.cols(), features);
  ASSERT_EQ(HogFeatures(size, spec), features);
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    const auto slow = SlowHog(images, i, size, spec).Features();
    ASSERT_EQ(static_cast<std::int64_t>(slow.size()), features);
    for (Eigen::Index k = 0; k < fast.cols(); ++k)
      ASSERT_NEAR(fast(i, k), static_cast<double>(slow[static_cast<std::size_t>(k)]), 1e-5)
          << "image " << i << ", feature " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, HogTest,
    testing::Values(HogCase{"mnist", {28, 28}, {}, 1296}, HogCase{"wide", {9, 14}, {}, 72},
                    HogCase{"one_pixel_cells", {4, 3}, {.cell = 1, .orientations = 3, .block = 1}, 36},
                    HogCase{"three_cells", {20, 17}, {.cell = 5, .orientations = 6, .block = 3}, 108},
                    HogCase{"colour", {12, 9, 3}, {}, 72}, HogCase{"two_channels", {8, 8, 2}, {}, 36},
                    HogCase{"one_orientation", {8, 8}, {.cell = 4, .orientations = 1, .block = 2}, 4}),
    [](const auto& info) { return info.param.name; });

TEST(ExtractHog, ConstantImagesGiveZeros) {
  ThreadPool pool(1);
  Matrix images(2, 784);
  images.row(0).setZero();
  images.row(1).setConstant(0.75F);
  EXPECT_EQ(ExtractHog(images, {28, 28}, {}, pool), Matrix::Zero(2, 1296));
}

TEST(ExtractHog, IgnoresBrightnessAndContrast) {
  ThreadPool pool(1);
  const Matrix images = RandomImages(4, {28, 28}, 2);
  const Matrix features = ExtractHog(images, {28, 28}, {}, pool);
  const Matrix brighter = ExtractHog((images.array() + 2.0F).matrix(), {28, 28}, {}, pool);
  const Matrix steeper = ExtractHog(images * 255.0F, {28, 28}, {}, pool);
  EXPECT_LT((brighter - features).cwiseAbs().maxCoeff(), 2e-5);
  EXPECT_LT((steeper - features).cwiseAbs().maxCoeff(), 2e-5);
}

TEST(ExtractHog, PutsAnEdgeInTheBinsOfItsDirection) {
  ThreadPool pool(1);
  Matrix images = Matrix::Zero(2, 16);
  for (int k = 0; k < 4; ++k) {
    images(0, k * 4 + 2) = images(0, k * 4 + 3) = 1;  // brightness changes to the right: 0 degrees
    images(1, 8 + k) = images(1, 12 + k) = 1;         // downwards: 90 degrees
  }
  const Matrix features = ExtractHog(images, {4, 4}, {.cell = 4, .orientations = 4, .block = 1}, pool);
  // Bins are centred at 22.5, 67.5, 112.5 and 157.5 degrees; both directions lie between two of them.
  const float half = std::sqrt(0.5F);
  Matrix expected(2, 4);
  expected << half, 0, 0, half, 0, half, half, 0;
  EXPECT_LT((features - expected).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(ExtractHog, BlocksHaveNormOne) {
  ThreadPool pool(1);
  const Matrix features = ExtractHog(RandomImages(1, {28, 28}, 3), {28, 28}, {}, pool);
  for (Eigen::Index block = 0; block < 36; ++block)
    EXPECT_NEAR(features.row(0).segment(block * 36, 36).norm(), 1.0, 1e-5);
}

TEST(ExtractHog, DependsOnTheRowAloneForAnyNumberOfThreads) {
  ThreadPool one(1);
  ThreadPool three(3);
  const Matrix images = RandomImages(100, {28, 28}, 4);
  const Matrix all = ExtractHog(images, {28, 28}, {}, three);
  EXPECT_EQ(all, ExtractHog(images, {28, 28}, {}, one));
  EXPECT_EQ(all.row(77), ExtractHog(images.row(77), {28, 28}, {}, one).row(0));
  EXPECT_EQ(ExtractHog(Matrix(0, 784), {28, 28}, {}, one).rows(), 0);
}

TEST(ExtractHog, OfEqualChannelsIsThatOfOneToTheBit) {
  ThreadPool pool(1);
  const Matrix grey = RandomImages(3, {20, 17}, 5);
  Matrix colour(3, 20 * 17 * 3);
  for (Eigen::Index i = 0; i < colour.cols(); ++i) colour.col(i) = grey.col(i / 3);
  EXPECT_EQ(ExtractHog(colour, {20, 17, 3}, {}, pool), ExtractHog(grey, {20, 17}, {}, pool));
}

TEST(HogFeatures, RefusesWhatDoesNotFit) {
  const auto text = [](ImageSize size, HogSpec spec) {
    return ErrorText<ConfigError>([&] { (void)HogFeatures(size, spec); });
  };
  EXPECT_EQ(text({28, 28}, {.cell = 0}), "features.cell: found 0, expected at least 1");
  EXPECT_EQ(text({28, 28}, {.orientations = -1}), "features.orientations: found -1, expected at least 1");
  EXPECT_EQ(text({28, 28}, {.block = 0}), "features.block: found 0, expected at least 1");
  EXPECT_EQ(text({28, 7}, {}),
            "features.image: found 28 x 7 pixels, expected room for 2 x 2 cells of side 4");
  ThreadPool pool(1);
  EXPECT_THROW((void)ExtractHog(Matrix(1, 783), {28, 28}, {}, pool), ContractError);
  EXPECT_THROW((void)ExtractHog(Matrix(1, 784), {28, 28, 3}, {}, pool), ContractError);
}

}  // namespace
}  // namespace trefoil::data

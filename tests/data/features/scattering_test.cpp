#include "data/features/scattering.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "data/demo/digits.h"
#include "tests/data/random_images.h"
#include "tests/data/slow_scattering.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

Matrix DigitImages(std::size_t count) {
  const auto digits = DrawDigits(1, DigitSet::kTrain, count);
  Matrix images(static_cast<Eigen::Index>(count), 784);
  for (Eigen::Index i = 0; i < images.size(); ++i)
    images.data()[i] = static_cast<float>(digits.images.values[static_cast<std::size_t>(i)]) / 255.0F;
  return images;
}

/// The normalisation of its definition.
std::vector<double> Normalised(std::vector<double> row, int groups) {
  const std::size_t length = row.size() / static_cast<std::size_t>(groups);
  for (std::size_t start = 0; start < row.size(); start += length) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = start; i < start + length; ++i) mean += row[i] / static_cast<double>(length);
    for (std::size_t i = start; i < start + length; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(length);
    for (std::size_t i = start; i < start + length; ++i)
      row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5);
  }
  return row;
}

/// One colour of images with channels side by side.
Matrix Colour(const Matrix& images, const ImageSize& size, int channel) {
  Matrix plane(images.rows(), size.pixels());
  for (Eigen::Index i = 0; i < plane.cols(); ++i) plane.col(i) = images.col(i * size.channels + channel);
  return plane;
}

/// All channels of an image by their definition, one colour after the other.
std::vector<double> Slow(const Matrix& images, Eigen::Index image, const ImageSize& size,
                         const ScatterSpec& spec) {
  const SlowScattering slow({size.height, size.width}, spec.scales, spec.angles);
  std::vector<double> row;
  for (int channel = 0; channel < size.channels; ++channel) {
    const auto values = slow.Run(Colour(images, size, channel), image);
    row.insert(row.end(), values.begin(), values.end());
  }
  return row;
}

struct ScatteringCase {
  std::string name;
  ImageSize size;
  ScatterSpec spec;
  std::int64_t features;
};

class ScatteringTest : public testing::TestWithParam<ScatteringCase> {};

TEST_P(ScatteringTest, IsTheDefinition) {
  const auto& [name, size, spec, features] = GetParam();
  ThreadPool pool(2);
  const Matrix images = RandomImages(2, size, 1);

  const Matrix fast = ExtractScattering(images, size, spec, pool);

  ASSERT_EQ(fast.cols(), features);
  ASSERT_EQ(ScatteringFeatures(size, spec), features);
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    const auto expected = Normalised(Slow(images, i, size, spec), spec.groups);
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), features);
    // Single precision, and up to 300-fold where the normalisation divides by a small deviation.
    for (Eigen::Index k = 0; k < fast.cols(); ++k)
      ASSERT_NEAR(fast(i, k), expected[static_cast<std::size_t>(k)], 2e-4)
          << "image " << i << ", feature " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ScatteringTest,
    testing::Values(ScatteringCase{"one_scale", {6, 9}, {.scales = 1, .angles = 4, .groups = 1}, 60},
                    ScatteringCase{"two_scales", {12, 15}, {.scales = 2, .angles = 4, .groups = 5}, 225},
                    ScatteringCase{"smallest", {4, 4}, {.scales = 2, .angles = 8, .groups = 27}, 81},
                    ScatteringCase{"three_scales", {8, 17}, {.scales = 3, .angles = 4, .groups = 61}, 122},
                    // 75 channels: groups of 3 within a colour, and of 15, of which two hold two colours.
                    ScatteringCase{"colour", {8, 5, 3}, {.scales = 2, .angles = 4, .groups = 25}, 150},
                    ScatteringCase{
                        "groups_of_two_colours", {4, 4, 3}, {.scales = 2, .angles = 4, .groups = 5}, 75}),
    [](const auto& info) { return info.param.name; });

TEST(ScatteringFeatures, AreThoseOfTheLiteratureForMnist) {
  EXPECT_EQ(ScatteringChannels({}), 81);
  EXPECT_EQ(ScatteringFeatures({28, 28}, {}), 3969);
  EXPECT_EQ(ScatteringFeatures({32, 32, 3}, {}), 243 * 64);
}

TEST(ExtractScattering, OfAConstantImageIsZero) {
  // S0 is the constant and all other channels are 0: each group without S0 has variance 0.
  ThreadPool pool(1);
  const Matrix image = Matrix::Constant(1, 784, 0.5F);
  const Matrix features = ExtractScattering(image, {28, 28}, {}, pool);
  EXPECT_LT(features.rightCols(26 * 147).cwiseAbs().maxCoeff(), 1e-3);
  // In the first group one channel in three is 1/2 and two are 0.
  EXPECT_NEAR(features(0, 0), std::sqrt(2.0), 1e-3);
  EXPECT_NEAR(features(0, 49), -std::sqrt(0.5), 1e-3);
}

TEST(ExtractScattering, GivesGroupsOfMeanZeroAndVarianceOne) {
  ThreadPool pool(1);
  const Matrix features = ExtractScattering(DigitImages(5), {28, 28}, {}, pool);
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    for (Eigen::Index group = 0; group < 27; ++group) {
      const auto values = features.row(i).segment(group * 147, 147);
      EXPECT_NEAR(values.mean(), 0, 1e-4);
      EXPECT_LE(values.squaredNorm() / 147, 1 + 1e-4);  // below 1 where the variance is as small as 1e-5
    }
  }
}

TEST(ExtractScattering, OfAShiftedDigitMovesLessThanTheDigit) {
  ThreadPool pool(1);
  const Matrix images = DigitImages(20);
  Matrix shifted = Matrix::Zero(20, 784);
  shifted.rightCols(783) = images.leftCols(783);  // by a pixel to the right; the digits do not touch the edge
  const auto relative = [](const Matrix& a, const Matrix& b) {
    return ((a - b).rowwise().norm().array() / a.rowwise().norm().array()).eval();
  };
  const auto moved =
      relative(ExtractScattering(images, {28, 28}, {}, pool), ExtractScattering(shifted, {28, 28}, {}, pool));
  EXPECT_TRUE((moved < 0.8F * relative(images, shifted)).all()) << moved.transpose();
}

TEST(ExtractScattering, DependsOnTheRowAloneForAnyNumberOfThreads) {
  ThreadPool one(1);
  ThreadPool three(3);
  const Matrix images = RandomImages(60, {28, 28}, 4);
  const Matrix all = ExtractScattering(images, {28, 28}, {}, three);
  EXPECT_EQ(all, ExtractScattering(images, {28, 28}, {}, one));
  for (const Eigen::Index i : {1, 2, 3, 57})
    EXPECT_EQ(all.row(i), ExtractScattering(images.row(i), {28, 28}, {}, one).row(0));
  EXPECT_EQ(ExtractScattering(Matrix(0, 784), {28, 28}, {}, one).rows(), 0);
}

TEST(ExtractScattering, WithGroupsOfOneColourIsEachColourByItself) {
  ThreadPool pool(1);
  const ImageSize size{12, 15, 3};
  const Matrix images = RandomImages(3, size, 6);
  const Matrix all = ExtractScattering(images, size, {.scales = 2, .angles = 8, .groups = 27}, pool);
  for (int channel = 0; channel < 3; ++channel) {
    const auto one = ExtractScattering(Colour(images, size, channel), {12, 15},
                                       {.scales = 2, .angles = 8, .groups = 9}, pool);
    // Not to the bit: where a colour lies in the row decides how memory is aligned, and sums with it.
    EXPECT_LT((all.middleCols(channel * one.cols(), one.cols()) - one).cwiseAbs().maxCoeff(), 1e-4)
        << channel;
  }
}

TEST(ScatteringFeatures, RefusesWhatDoesNotFit) {
  const auto text = [](ImageSize size, ScatterSpec spec) {
    return ErrorText<ConfigError>([&] { (void)ScatteringFeatures(size, spec); });
  };
  EXPECT_EQ(text({28, 28}, {.scales = 0}), "features.scales: found 0, expected a whole number from 1 to 8");
  EXPECT_EQ(text({28, 28}, {.angles = 3}), "features.angles: found 3, expected a whole number from 4 to 64");
  EXPECT_EQ(text({28, 3}, {}), "features.image: found 28 x 3 pixels, expected at least 4 x 4");
  EXPECT_EQ(text({28, 28}, {.groups = 26}),
            "features.groups: found 26, expected a divisor of the 81 channels");
  EXPECT_EQ(text({28, 28}, {.groups = 0}), "features.groups: found 0, expected a divisor of the 81 channels");
  EXPECT_EQ(text({28, 28, 2}, {.groups = 4}),
            "features.groups: found 4, expected a divisor of the 162 channels");
  ThreadPool pool(1);
  EXPECT_THROW((void)ExtractScattering(Matrix(1, 784), {28, 28, 3}, {}, pool), ContractError);
  EXPECT_THROW((void)ExtractScattering(Matrix(1, 783), {28, 28}, {}, pool), ContractError);
}

}  // namespace
}  // namespace trefoil::data

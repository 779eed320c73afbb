#include "data/demo/digits.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <set>

#include "data/dataset/folders.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kPixels = 784;

std::string Image(const Digits& digits, std::size_t i) {
  const auto begin = digits.images.values.begin() + static_cast<std::ptrdiff_t>(i * kPixels);
  return {begin, begin + kPixels};
}

TEST(DrawDigits, DependsOnSeedSetAndIndexAlone) {
  const Digits longer = DrawDigits(5, DigitSet::kTrain, 50);
  const Digits shorter = DrawDigits(5, DigitSet::kTrain, 20);
  const Digits test = DrawDigits(5, DigitSet::kTest, 50);
  const Digits other = DrawDigits(6, DigitSet::kTrain, 50);

  EXPECT_EQ(longer.images.shape, (std::vector<std::size_t>{50, 28, 28}));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 50; ++i) {
    if (i < 20) {
      EXPECT_EQ(Image(longer, i), Image(shorter, i));
    }
    for (const auto* set : {&longer, &test, &other}) seen.insert(Image(*set, i));
  }
  EXPECT_EQ(seen.size(), 150U) << "no image twice";
}

TEST(DrawDigits, IsTheSameOnEveryMachine) {
  const Digits digits = DrawDigits(1, DigitSet::kTrain, 1000);
  const auto checksum = [](const std::vector<std::uint8_t>& bytes) {
    return crc32(0, bytes.data(), static_cast<uInt>(bytes.size()));
  };
  EXPECT_EQ(checksum(digits.images.values), 3889216341U);
  EXPECT_EQ(checksum(digits.labels.values), 1949716731U);
}

TEST(DrawDigits, ShowsEachDigitEquallyOften) {
  constexpr std::size_t kCount = 5000;
  std::array<int, 10> histogram{};
  for (const auto label : DrawDigits(2, DigitSet::kTrain, kCount).labels.values) ++histogram.at(label);
  // Five standard deviations of a binomial: for a right generator one seed in about 170,000 fails (ten
  // counts).
  for (const int count : histogram) EXPECT_NEAR(count, 500, 5 * std::sqrt(kCount * 0.1 * 0.9));
}

/// Share of test images whose nearest class mean is their own class. Chance is 0.1; a linear model learns
/// more than means.
double NearestMeanAccuracy(const Table& train, const Table& test) {
  Eigen::MatrixXf means = Eigen::MatrixXf::Zero(10, train.x.cols());
  Eigen::VectorXf counts = Eigen::VectorXf::Zero(10);
  for (Eigen::Index i = 0; i < train.x.rows(); ++i) {
    const int label = train.y[static_cast<std::size_t>(i)];
    means.row(label) += train.x.row(i);
    counts(label) += 1;
  }
  for (Eigen::Index k = 0; k < 10; ++k) means.row(k) /= counts(k);
  int right = 0;
  for (Eigen::Index i = 0; i < test.x.rows(); ++i) {
    Eigen::Index nearest = 0;
    (means.rowwise() - test.x.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    right += nearest == test.y[static_cast<std::size_t>(i)];
  }
  return right / static_cast<double>(test.x.rows());
}

TEST(WriteDigits, WritesNoValidationSetOfNoImages) {
  const TemporaryFolder folder;
  WriteDigits(folder / "digits", 3, 10, 10, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "digits/validation-images-idx3-ubyte.gz"));
  EXPECT_TRUE(std::filesystem::exists(folder / "digits/t10k-images-idx3-ubyte.gz"));
}

TEST(WriteDigits, WritesADataSetThatCanBeLearntButNotTrivially) {
  const TemporaryFolder folder;
  WriteDigits(folder / "digits", 3, 3000, 1000, 50);
  EXPECT_EQ(ReadIdx(folder / "digits/validation-labels-idx1-ubyte.gz").values.size(), 50U);

  DataSpec spec;
  spec.features = kPixels;
  spec.classes = 10;
  spec.scale = 255;
  const Table train = Load(spec, FindTrainingFiles(spec, folder / "digits"));
  const auto test_files = FindTestFiles(spec, folder / "digits");
  ASSERT_TRUE(test_files);
  const Table test = Load(spec, *test_files);

  EXPECT_EQ(train.x.rows(), 3000);
  EXPECT_EQ(test.x.rows(), 1000);
  const double accuracy = NearestMeanAccuracy(train, test);
  EXPECT_GT(accuracy, 0.7);
  EXPECT_LT(accuracy, 0.97);
}

}  // namespace
}  // namespace trefoil::data

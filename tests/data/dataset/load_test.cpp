#include "data/dataset/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "data/formats/idx.h"
#include "data/formats/image_decoder.h"
#include "data/formats/numpy/npz.h"
#include "tests/data/cifar_rows.h"
#include "tests/data/image_bytes.h"

namespace trefoil::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DataSpec ArraySpec(Format format) {
  DataSpec spec;
  spec.format = format;
  spec.features = 4;
  spec.classes = 3;
  spec.scale = 2.0;
  return spec;
}

/// Writes x and y as NPY and NPZ and expects the same error from both.
class LoadArrays : public testing::Test {
 protected:
  void Write(const NpyArray& x, const NpyArray& y) {
    WriteNpy(folder_ / "x.npy", x);
    WriteNpy(folder_ / "y.npy", y);
    WriteNpz(folder_ / "a.npz", {{"x", x}, {"y", y}});
  }

  void ExpectError(const std::string& text, std::optional<std::int64_t> capacity = std::nullopt) {
    const auto error = [&](Format format) {
      return ErrorText<DataError>([&] { (void)Load(ArraySpec(format), Files(format), capacity); });
    };
    EXPECT_THAT(error(Format::kNpy), HasSubstr(text));
    EXPECT_THAT(error(Format::kNpz), HasSubstr(text));
  }

  [[nodiscard]] DataFiles Files(Format format) const {
    if (format == Format::kNpy) return {folder_ / "x.npy", folder_ / "y.npy", {}};
    return {{}, {}, folder_ / "a.npz"};
  }

  TemporaryFolder folder_;
  std::vector<double> x_{0, 2, 4, 6, 1, 3, 5, -7};
  std::vector<std::int64_t> y_{2, 0};
};

TEST_F(LoadArrays, DividesByTheScale) {
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({2}, y_));
  Matrix expected(2, 4);
  expected << 0, 1, 2, 3, 0.5F, 1.5F, 2.5F, -3.5F;
  for (const Format format : {Format::kNpy, Format::kNpz}) {
    const Table table = Load(ArraySpec(format), Files(format), 2);
    EXPECT_EQ(table.x, expected);
    EXPECT_EQ(table.y, (std::vector<int>{2, 0}));
  }
}

TEST_F(LoadArrays, FlattensImagesAndAcceptsWholeDoublesAsLabels) {
  Write(NpyFromDoubles({2, 2, 2}, x_), NpyFromDoubles({2}, std::vector<double>{1, 2}));
  EXPECT_EQ(Load(ArraySpec(Format::kNpz), Files(Format::kNpz)).x(1, 3), -3.5F);
  EXPECT_EQ(Load(ArraySpec(Format::kNpy), Files(Format::kNpy)).y, (std::vector<int>{1, 2}));
}

TEST_F(LoadArrays, TakesTargetsOfTheirRangeAndNamesOthers) {
  auto spec = ArraySpec(Format::kNpz);
  spec.classes = 2;
  spec.target = TargetRange{.low = -2, .high = 2};
  const auto read = [&](double target) {
    Write(NpyFromDoubles({2, 4}, x_), NpyFromDoubles({2}, std::vector<double>{-2, target}));
    return Load(spec, Files(Format::kNpz)).y;
  };
  EXPECT_EQ(read(0.5), (std::vector<int>{0, 5 << (kTargetBits - 3)}));
  for (const double bad : {2.001, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(ErrorText<DataError>([&] { (void)read(bad); }),
                AllOf(HasSubstr("y.npy: row 2: found target "), HasSubstr("expected a number of -2 to 2")));
  }
  spec.target->high = -2;
  EXPECT_THROW((void)read(0), ConfigError);
}

TEST_F(LoadArrays, ImagesMustHaveTheSizeThatTheSpecNames) {
  auto spec = ArraySpec(Format::kNpz);
  Write(NpyFromDoubles({2, 2, 2}, x_), NpyFromIntegers({2}, y_));
  spec.image = {2, 2};
  EXPECT_EQ(Load(spec, Files(Format::kNpz)).x.rows(), 2);
  spec.image = {1, 4};
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Load(spec, Files(Format::kNpz)); }),
              HasSubstr("found 2 x 2 images, expected 1 x 4"));
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({2}, y_));
  EXPECT_EQ(Load(spec, Files(Format::kNpz)).x.rows(), 2);
}

TEST_F(LoadArrays, ImagesOfSeveralChannelsHaveThemLast) {
  auto spec = ArraySpec(Format::kNpz);
  const auto text = [&](std::vector<std::size_t> shape, const ImageSize& image) {
    spec.image = image;
    Write(NpyFromDoubles(std::move(shape), x_), NpyFromIntegers({2}, y_));
    return ErrorText<DataError>([&] { EXPECT_EQ(Load(spec, Files(Format::kNpz)).x(1, 3), -3.5F); });
  };
  EXPECT_EQ(text({2, 1, 2, 2}, {1, 2, 2}), "");
  EXPECT_EQ(text({2, 4}, {1, 2, 2}), "");
  EXPECT_EQ(text({2, 2, 2, 1}, {2, 2}), "");
  EXPECT_EQ(text({2, 1, 2, 2}, {2, 2}), "");
  EXPECT_THAT(text({2, 2, 1, 2}, {1, 2, 2}), HasSubstr("found 2 x 1 x 2 images, expected 1 x 2 x 2"));
  EXPECT_THAT(text({2, 1, 4}, {1, 2, 2}), HasSubstr("found 1 x 4 images, expected 1 x 2 x 2"));
  EXPECT_THAT(text({2, 2, 1, 2}, {2, 2}), HasSubstr("found 2 x 1 x 2 images, expected 2 x 2"));
  EXPECT_THAT(text({2, 1, 2, 2, 1}, {1, 2, 2}), HasSubstr("found 1 x 2 x 2 x 1 images, expected 1 x 2 x 2"));
}

TEST_F(LoadArrays, AcceptsNoRows) {
  Write(NpyFromDoubles({0, 4}, {}), NpyFromIntegers({0}, {}));
  EXPECT_EQ(Load(ArraySpec(Format::kNpz), Files(Format::kNpz)).x.rows(), 0);
}

TEST_F(LoadArrays, NamesTheValueThatIsNotAllowed) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 3e9}) {
    auto x = x_;
    x[6] = bad;
    Write(NpyFromDoubles({2, 4}, x), NpyFromIntegers({2}, y_));
    ExpectError("x.npy: row 2, column 3: found ");
  }
}

TEST_F(LoadArrays, NamesTheLabelThatIsNotAllowed) {
  for (const double bad : {-1.0, 3.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    Write(NpyFromDoubles({2, 4}, x_), NpyFromDoubles({2}, std::vector<double>{0, bad}));
    ExpectError("y.npy: row 2: found label ");
  }
}

TEST_F(LoadArrays, NamesShapesThatDoNotFit) {
  Write(NpyFromDoubles({4, 2}, x_), NpyFromIntegers({2}, y_));
  ExpectError("x.npy: found 2 features in a row, expected 4");
  Write(NpyFromDoubles({8}, x_), NpyFromIntegers({2}, y_));
  ExpectError("x.npy: found 0 features in a row, expected 4");
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({2, 1}, y_));
  ExpectError("y.npy: found 2 dimensions, expected one");
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({1}, std::vector<std::int64_t>{1}));
  ExpectError("y.npy: found 1 labels, expected 2, the rows of");
}

TEST_F(LoadArrays, RefusesMoreRowsThanDeclared) {
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({2}, y_));
  ExpectError(": found 2 rows, expected at most the 1 that the job declares", 1);
}

TEST_F(LoadArrays, IgnoresLabelsThatAreWrongOrMissing) {
  const auto rows = [&](Format format) {
    const Table table = Load(ArraySpec(format), Files(format), std::nullopt, LabelUse::kIgnored);
    EXPECT_TRUE(table.y.empty());
    return table.x.rows();
  };
  Write(NpyFromDoubles({2, 4}, x_), NpyFromIntegers({1}, std::vector<std::int64_t>{77}));
  EXPECT_EQ(rows(Format::kNpy), 2);
  EXPECT_EQ(rows(Format::kNpz), 2);
  std::filesystem::remove(folder_ / "y.npy");
  WriteNpz(folder_ / "a.npz", {{"x", NpyFromDoubles({2, 4}, x_)}});
  EXPECT_EQ(rows(Format::kNpy), 2);
  EXPECT_EQ(rows(Format::kNpz), 2);
}

TEST(LoadIdx, IgnoresLabelsThatAreMissing) {
  const TemporaryFolder folder;
  WriteIdx(folder / "x.gz", {{2, 4}, {0, 2, 4, 6, 8, 10, 12, 255}});
  const Table table =
      Load(ArraySpec(Format::kIdx), {folder / "x.gz", {}, {}}, std::nullopt, LabelUse::kIgnored);
  EXPECT_EQ(table.x(1, 3), 127.5F);
  EXPECT_TRUE(table.y.empty());
}

TEST(LoadIdx, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  const DataFiles files{folder / "x.gz", folder / "y.gz", {}};
  WriteIdx(files.x, {{2, 2, 2}, {0, 2, 4, 6, 8, 10, 12, 255}});
  WriteIdx(files.y, {{2}, {2, 1}});
  const Table table = Load(ArraySpec(Format::kIdx), files);
  EXPECT_EQ(table.x(1, 3), 127.5F);
  EXPECT_EQ(table.y, (std::vector<int>{2, 1}));
}

TEST(LoadIdx, NamesTheLabelThatIsNoClass) {
  const TemporaryFolder folder;
  const DataFiles files{folder / "x.gz", folder / "y.gz", {}};
  WriteIdx(files.x, {{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}});
  WriteIdx(files.y, {{2}, {2, 3}});
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Load(ArraySpec(Format::kIdx), files); }),
              HasSubstr("y.gz: row 2: found label 3, expected a class of 0 to 2"));
}

DataSpec CifarSpec() {
  DataSpec spec = ArraySpec(Format::kCifar);
  spec.features = 3072;
  return spec;
}

TEST(LoadCifar, IsTheSameAsAnArrayWithChannelsLast) {
  const TemporaryFolder folder;
  const DataFiles files{{}, {}, folder.Put("a.bin", CifarRow(2, 0) + CifarRow(1, 30))};
  IdxArray images{{2, 32, 32, 3}, {}};
  for (const int start : {0, 30}) {
    for (std::size_t i = 0; i < 3072; ++i) images.values.push_back(CifarValue(start, i % 3, i / 3));
  }
  WriteIdx(folder / "x", images);
  WriteIdx(folder / "y", {{2}, {2, 1}});
  auto spec = CifarSpec();
  const Table table = Load(spec, files, 2);
  EXPECT_TRUE(Load(spec, files, 2, LabelUse::kIgnored).y.empty());
  spec.format = Format::kIdx;
  spec.image = kCifarImage;
  const Table expected = Load(spec, {folder / "x", folder / "y", {}});
  EXPECT_EQ(table.x, expected.x);
  EXPECT_EQ(table.y, expected.y);
}

TEST(LoadCifar, RefusesOtherClassesRowsAndSpecs) {
  const TemporaryFolder folder;
  const DataFiles files{{}, {}, folder.Put("a.bin", CifarRow(2, 0) + CifarRow(3, 30))};
  auto spec = CifarSpec();
  const auto error = [&] { return ErrorText<std::exception>([&] { (void)Load(spec, files, 1); }); };
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Load(spec, files); }),
              HasSubstr("a.bin: row 2: found label 3, expected a class of 0 to 2"));
  EXPECT_THAT(error(), HasSubstr("a.bin: found 2 rows, expected at most the 1"));
  spec.image = {32, 96};
  EXPECT_EQ(error(), "features.image: found 32 x 96, expected 32 x 32 x 3, what data.format \"cifar\" has");
  spec.features = 3073;
  EXPECT_EQ(error(), "data.features: found 3073, expected 3072, what data.format \"cifar\" has");
}

/// Two records as CIFAR's binary files and as images: class 2 before class 1, whose name sorts behind.
class LoadImagesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!ImagesAreAvailable()) GTEST_SKIP() << "built without images (TREFOIL_IMAGES)";
    spec_.format = Format::kImages;
    spec_.image = kCifarImage;
    spec_.label.values = {"none", "dog", "cat"};
    PutImage("train/cat", 0);
    PutImage("train/dog", 30);
  }

  void PutImage(const std::string& folder, int start) const {
    std::vector<std::uint8_t> values;
    for (std::size_t i = 0; i < 3072; ++i) values.push_back(CifarValue(start, i % 3, i / 3));
    std::filesystem::create_directories(folder_ / folder);
    folder_.Put(folder + "/1.png", Png(kCifarImage, values));
  }

  [[nodiscard]] Table LoadAll(std::optional<std::int64_t> capacity = std::nullopt,
                              LabelUse labels = LabelUse::kRead) const {
    return Load(spec_, OneFile(folder_ / "train"), capacity, labels);
  }
  template <typename E = DataError>
  [[nodiscard]] std::string Error(std::optional<std::int64_t> capacity = std::nullopt) const {
    return ErrorText<E>([&] { (void)LoadAll(capacity); });
  }

  TemporaryFolder folder_;
  DataSpec spec_ = CifarSpec();
};

TEST_F(LoadImagesTest, AreTheSameBitsAsCifarsOwnFile) {
  const Table table = LoadAll(2);
  const auto cifar = Load(CifarSpec(), OneFile(folder_.Put("a.bin", CifarRow(2, 0) + CifarRow(1, 30))));
  EXPECT_EQ(table.x, cifar.x);
  EXPECT_EQ(table.y, cifar.y);
  EXPECT_EQ(table.y, (std::vector<int>{2, 1}));
}

TEST_F(LoadImagesTest, NameWhatDoesNotFit) {
  EXPECT_THAT(Error(1), HasSubstr("train: found 2 rows, expected at most the 1 that the job declares"));
  folder_.Put("train/dog/x.jpg", "no image");
  EXPECT_THAT(Error(), HasSubstr("train/dog/x.jpg: found something else, expected a whole PNG or JPEG file"));
  EXPECT_THAT(Error(2), HasSubstr("train: found 3 rows")) << "none is decoded before";
  std::filesystem::remove(folder_ / "train/dog/x.jpg");
  spec_.image = {.height = 48, .width = 64};
  EXPECT_THAT(Error(),
              HasSubstr("train/cat/1.png: found 32 x 32 x 3 pixels, expected 48 x 64 (features.image)"));
  spec_.image = kCifarImage;
  spec_.label.values[1] = "Dog";
  EXPECT_THAT(Error(), HasSubstr("train/dog: found a folder \"dog\", expected one that is named by"));
  spec_.image = {};
  EXPECT_THAT(Error<ConfigError>(), HasSubstr("features.image: found none, expected height and width"));
}

TEST_F(LoadImagesTest, MayHaveNoClassesWhereTheyAreIgnored) {
  std::filesystem::rename(folder_ / "train/dog", folder_ / "train/whatever");
  std::filesystem::rename(folder_ / "train/cat/1.png", folder_ / "train/1.png");
  const Table table = LoadAll(2, LabelUse::kIgnored);
  EXPECT_EQ(table.x(0, 0), 0.0F) << "1.png comes first";
  EXPECT_EQ(table.x(1, 0), 15.0F);
  EXPECT_TRUE(table.y.empty());
}

TEST_F(LoadImagesTest, MayBeNone) {
  std::filesystem::remove_all(folder_ / "train");
  EXPECT_THAT(Error(), HasSubstr("train: found no such folder"));
  std::filesystem::create_directories(folder_ / "train/dog");
  EXPECT_EQ(LoadAll().x.rows(), 0);
  EXPECT_EQ(LoadAll().x.cols(), 3072);
}

TEST(LoadImages, NamesTheOptionOfABuildWithoutThem) {
  if (ImagesAreAvailable()) GTEST_SKIP() << "built with images";
  auto spec = CifarSpec();
  spec.format = Format::kImages;
  spec.image = kCifarImage;
  spec.label.values = {"none", "dog", "cat"};
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)Load(spec, OneFile("none")); }),
              HasSubstr("-DTREFOIL_IMAGES=ON"));
}

TEST(LoadCsv, ChecksSpecAndCapacity) {
  const TemporaryFolder folder;
  DataSpec spec = ArraySpec(Format::kCsv);
  spec.header = false;
  spec.features = 1;
  spec.columns = {{"a", ColumnKind::kNumber, 0, 1, {}}};
  spec.label = {"b", {"0", "1", "2"}, {}};
  const DataFiles files{{}, {}, folder.Put("a.csv", "5,0\n6,1\n")};
  EXPECT_EQ(Load(spec, files, 2).x(1, 0), 6.0F) << "spec.scale is not for CSV";
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Load(spec, files, 1); }), HasSubstr("a.csv: found 2 rows"));
  spec.features = 2;
  EXPECT_THROW((void)Load(spec, files), ConfigError);
}

}  // namespace
}  // namespace trefoil::data

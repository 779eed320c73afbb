#include "data/features/feature_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "data/formats/idx.h"
#include "data/formats/numpy/npz.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

TEST(ReadFeatureInput, ReadsIdxImagesAndLabels) {
  const TemporaryFolder folder;
  WriteIdx(folder / "x.gz", {{2, 1, 3}, {0, 2, 4, 6, 8, 255}});
  WriteIdx(folder / "y", {{2}, {7, 9}});
  const auto input = ReadFeatureInput(folder / "x.gz", false, folder / "y", 2.0);
  Matrix expected(2, 3);
  expected << 0, 1, 2, 3, 4, 127.5F;
  EXPECT_EQ(input.x, expected);
  EXPECT_EQ(input.image.height, 1);
  EXPECT_EQ(input.image.width, 3);
  EXPECT_EQ(input.labels, (std::vector<std::int64_t>{7, 9}));
}

TEST(ReadFeatureInput, TakesFourDimensionsForImagesWithChannelsLast) {
  const TemporaryFolder folder;
  WriteIdx(folder / "x", {{1, 2, 1, 3}, {0, 2, 4, 6, 8, 255}});
  WriteNpy(folder / "x.npy", NpyFromDoubles({1, 2, 1, 3}, std::vector<double>{0, 2, 4, 6, 8, 255}));
  for (const char* name : {"x", "x.npy"}) {
    const auto input = ReadFeatureInput(folder / name, false, "", 1.0);
    EXPECT_EQ(input.image, (ImageSize{2, 1, 3}));
    EXPECT_EQ(input.x(0, 5), 255.0F);
  }
}

TEST(ReadFeatureInput, ReadsNpyAndNpzWithOrWithoutLabels) {
  const TemporaryFolder folder;
  const auto x = NpyFromDoubles({2, 2}, std::vector<double>{1, 2, 3, -4});
  WriteNpy(folder / "x.npy", x);
  WriteNpz(folder / "x.npz", {{"x", x}});
  WriteNpz(folder / "xy.npz", {{"x", x}, {"y", NpyFromIntegers({2}, std::vector<std::int64_t>{-1, 5})}});
  for (const char* name : {"x.npy", "x.npz", "xy.npz"}) {
    const auto input = ReadFeatureInput(folder / name, false, "", 1.0);
    EXPECT_EQ(input.x(1, 1), -4.0F);
    EXPECT_FALSE(input.image.given());
    EXPECT_EQ(input.labels.empty(), std::string(name) != "xy.npz");
  }
}

TEST(ReadFeatureInput, ReadsLinesOfText) {
  const TemporaryFolder folder;
  const auto input = ReadFeatureInput(folder.Put("t", "one\r\n\ntwo, three"), true, "", 1.0);
  EXPECT_EQ(input.texts, (std::vector<std::vector<std::string>>{{"one"}, {""}, {"two, three"}}));
  EXPECT_EQ(input.x.rows(), 3);
  EXPECT_EQ(input.x.cols(), 0);
  const auto marked = ReadFeatureInput(folder.Put("t", "\xEF\xBB\xBFone\none"), true, "", 1.0);
  EXPECT_EQ(marked.texts, (std::vector<std::vector<std::string>>{{"one"}, {"one"}}));
}

TEST(ReadFeatureInput, RefusesWhatIsNoTable) {
  const TemporaryFolder folder;
  const auto text = [&](const std::string& name, const std::string& labels = "") {
    return ErrorText<DataError>(
        [&] { (void)ReadFeatureInput(folder / name, false, labels.empty() ? "" : folder / labels, 1.0); });
  };
  WriteNpy(folder / "flat.npy", NpyFromDoubles({2}, std::vector<double>{1, 2}));
  WriteNpy(folder / "nan.npy",
           NpyFromDoubles({1, 2}, std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}));
  WriteNpy(folder / "x.npy", NpyFromDoubles({1, 2}, std::vector<double>{1, 2}));
  WriteNpy(folder / "half.npy", NpyFromDoubles({1}, std::vector<double>{0.5}));
  folder.Put("other", "hello");
  EXPECT_THAT(text("flat.npy"), HasSubstr("found an array of 1 dimensions and 2 values"));
  EXPECT_THAT(text("nan.npy"), HasSubstr("value 2: found nan"));
  EXPECT_THAT(text("x.npy", "flat.npy"), HasSubstr("flat.npy: found 2 labels, expected 1"));
  EXPECT_THAT(text("x.npy", "half.npy"), HasSubstr("found label 0.5"));
  EXPECT_THAT(text("x.npy", "x.npy"), HasSubstr("found 2 dimensions"));
  EXPECT_THAT(text("other"), HasSubstr("magic number"));
  EXPECT_THAT(text("absent"), HasSubstr("absent"));
}

TEST(WriteFeatures, KeepsFloatsAndLabels) {
  const TemporaryFolder folder;
  Matrix x(2, 3);
  x << 1, 0.1F, -3, 4, 5, 1e-30F;
  WriteFeatures(folder / "a.npz", x, {3, 4});
  WriteFeatures(folder / "a.npy", x, {});
  EXPECT_EQ(ReadNpz(folder / "a.npz", "x").descr, "<f4");
  const auto both = ReadFeatureInput(folder / "a.npz", false, "", 1.0);
  EXPECT_EQ(both.x, x);
  EXPECT_EQ(both.labels, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(ReadFeatureInput(folder / "a.npy", false, "", 1.0).x, x);
}

TEST(WriteFeatures, RefusesNamesThatDoNotSayHow) {
  const auto text = [](const char* name, bool labels) {
    return ErrorText<ConfigError>([&] { CheckFeatureFileName(name, labels); });
  };
  EXPECT_EQ(text("a.npz", true) + text("a.npz", false) + text("a.npy", false), "");
  EXPECT_EQ(text("a.npy", true), "--out: found a.npy, expected a name in .npz, which keeps the labels");
  EXPECT_EQ(text("a", false), "--out: found a, expected a name in .npz or .npy");
}

}  // namespace
}  // namespace trefoil::data

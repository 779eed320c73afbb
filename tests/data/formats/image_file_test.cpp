#include "data/formats/image_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/formats/file.h"
#include "tests/data/image_bytes.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

constexpr ImageSize kGrey{.height = 2, .width = 3};
constexpr ImageSize kColour{.height = 2, .width = 3, .channels = 3};
constexpr ImageSize kEight{.height = 8, .width = 8};

std::string ErrorOf(const std::string& bytes, const ImageSize& size) {
  return ErrorText<DataError>([&] { (void)CheckedImage(bytes, size, "a"); });
}

TEST(CheckedImage, TakesGreyAndColourOfTheSize) {
  const auto grey = Png(kGrey, {0, 1, 2, 3, 4, 255});
  EXPECT_EQ(CheckedImage(grey, kGrey, "a"), grey);
  const auto colour = Png(kColour, std::vector<std::uint8_t>(18, 7));
  EXPECT_EQ(CheckedImage(colour, kColour, "a"), colour);
  EXPECT_EQ(CheckedImage(Jpeg({200}), kEight, "a"), Jpeg({200}));
  EXPECT_EQ(ErrorOf(Jpeg({200, 64, 64}), {8, 8, 3}), "");
}

TEST(CheckedImage, NamesAnotherSize) {
  EXPECT_EQ(ErrorOf(Png({.height = 3, .width = 2}, std::vector<std::uint8_t>(6)), kGrey),
            "a: found 3 x 2 pixels, expected 2 x 3 (features.image)");
  for (const ImageSize& other : {ImageSize{2, 4}, ImageSize{1, 3}})  // one of both is right
    EXPECT_EQ(ErrorOf(Png(other, std::vector<std::uint8_t>(8)), kGrey),
              "a: found " + SizeText(other) + " pixels, expected 2 x 3 (features.image)");
  EXPECT_EQ(ErrorOf(Png(kColour, std::vector<std::uint8_t>(18)), kGrey),
            "a: found 2 x 3 x 3 pixels, expected 2 x 3 (features.image)");
  EXPECT_EQ(ErrorOf(Png(kGrey, {0, 1, 2, 3, 4, 255}), kColour),
            "a: found 2 x 3 pixels, expected 2 x 3 x 3 (features.image)");
  EXPECT_EQ(ErrorOf(Jpeg({200}), kGrey), "a: found 8 x 8 pixels, expected 2 x 3 (features.image)");
  EXPECT_EQ(ErrorOf(Jpeg({200, 64, 64}), kEight),
            "a: found 8 x 8 x 3 pixels, expected 8 x 8 (features.image)");
}

TEST(CheckedImage, RefusesMoreBitsAndTransparency) {
  EXPECT_EQ(ErrorOf(Png(kGrey, std::string(12, 'x'), {.colours = 0, .bits = 16}), kGrey),
            "a: found 16 bits a value, expected 8 at most");
  EXPECT_EQ(ErrorOf(Jpeg({200}, 12), kEight), "a: found 12 bits a value, expected 8 at most");
  for (const int colours : {4, 6}) {
    EXPECT_EQ(ErrorOf(Png(kGrey, std::string(24, 'x'), {.colours = colours}), kGrey),
              "a: found transparency (an alpha channel), expected an image without it");
  }
  EXPECT_EQ(ErrorOf(Png(kGrey, std::string(6, 'x'), {.colours = 0, .chunks = PngChunk("tRNS", "ab")}), kGrey),
            "a: found transparency, expected an image without it");
}

TEST(CheckedImage, LeavesOutWhatPixelsDoNotNeed) {
  const std::string pixels(6, 'x');
  const auto bare = Png(kGrey, pixels, {.colours = 0});
  const auto more = PngChunk("tEXt", "a\0b") + PngChunk("iCCP", "damaged");
  EXPECT_EQ(CheckedImage(Png(kGrey, pixels, {.colours = 0, .chunks = more}) + "behind", kGrey, "a"), bare);
}

TEST(CheckedImage, RefusesEveryCutAndEveryOtherByteOfAPng) {
  const auto whole = Png(kGrey, {0, 1, 2, 3, 4, 255});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(ErrorOf(whole.substr(0, size), kGrey), "") << size;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    auto other = whole;
    other[k] = static_cast<char>(other[k] ^ 4);
    EXPECT_NE(ErrorOf(other, kGrey), "") << k;
  }
  EXPECT_EQ(ErrorOf(whole.substr(0, 60), kGrey),
            "a: found a PNG file that is cut off, expected a whole PNG or JPEG file");
}

TEST(CheckedImage, RefusesAJpegWhoseHeadIsCutOffOrDamaged) {
  const auto whole = Jpeg({200, 64, 64});
  const auto frame = whole.find("\xff\xc0");
  for (std::size_t size = 0; size < frame + 10; ++size)
    EXPECT_NE(ErrorOf(whole.substr(0, size), {8, 8, 3}), "") << size;
  EXPECT_EQ(CheckedImage(whole + "behind", {8, 8, 3}, "a"), whole + "behind")
      << "is the decoder's to pass over";
  auto other = whole;
  other[3] = '\xda';  // pixels before a frame
  EXPECT_EQ(ErrorOf(other, {8, 8, 3}),
            "a: found a JPEG file without a head, expected a whole PNG or JPEG file");
}

TEST(CheckedImage, RefusesArithmeticCode) {
  auto other = Jpeg({200});
  const auto frame = other.find("\xff\xc0");
  for (const char mark : {'\xc9', '\xca'}) {
    other[frame + 1] = mark;
    EXPECT_EQ(ErrorOf(other, kEight),
              "a: found a JPEG file in arithmetic code, expected one in Huffman code");
  }
  other[frame + 1] = '\xc1';  // sequential, extended
  EXPECT_EQ(ErrorOf(other, kEight), "");
}

TEST(CheckedImage, RefusesOtherFiles) {
  EXPECT_EQ(ErrorOf("", kGrey), "a: found an empty file, expected a whole PNG or JPEG file");
  EXPECT_EQ(ErrorOf("GIF89a", kGrey), "a: found something else, expected a whole PNG or JPEG file");
  EXPECT_EQ(ErrorOf("\xff\xd8\xff", kGrey),
            "a: found an image that is cut off, expected a whole PNG or JPEG file");
  EXPECT_THROW((void)CheckedImage("", {}, "a"), ContractError);
  EXPECT_THROW((void)CheckedImage("", {2, 3, 2}, "a"), ContractError);
}

TEST(ReadImageFile, ReadsNoMoreThanAnImageOfTheSizeMayTake) {
  const TemporaryFolder folder;
  const auto image = Png(kGrey, {0, 1, 2, 3, 4, 255});
  EXPECT_EQ(ReadImageFile(folder.Put("a.txt", image), kGrey), image) << "names say nothing";
  // A small file that unpacks to much.
  const auto text = [&](const std::string& name, const ImageSize& size) {
    return ErrorText<DataError>([&] { (void)ReadImageFile(folder / name, size); });
  };
  WriteFile(folder / "b.gz", image + std::string(20'000'000, '\0'));
  EXPECT_THAT(text("b.gz", {3, 3}), HasSubstr("b.gz: found 2 x 3 pixels, expected 3 x 3"));
  EXPECT_THAT(
      text("b.gz", kGrey),
      HasSubstr("b.gz: values: found more than 16777264 bytes, expected no more than its header allows"));
  folder.Put("c", image + std::string(20'000'000, '\0'));
  EXPECT_THAT(text("c", kGrey),
              HasSubstr("bytes, expected at most the 16777264 that an image of 6 values may take"));
  EXPECT_THAT(text("none", kGrey), HasSubstr("none: found no such file"));
}

TEST(ReadAnyImageFile, TakesAnyImageAndNothingElse) {
  const TemporaryFolder folder;
  const auto image = Png(kGrey, {0, 1, 2, 3, 4, 255});
  EXPECT_EQ(ReadAnyImageFile(folder.Put("a", image)), image);
  const auto text = [&](const std::string& content) {
    return ErrorText<DataError>([&] { (void)ReadAnyImageFile(folder.Put("b", content)); });
  };
  EXPECT_THAT(text("x,y\n1,2\n"), HasSubstr("b: found something else, expected a whole PNG or JPEG file"));
  EXPECT_THAT(text("a"), HasSubstr("b: found something else"));
  // A file that says to be 50 GB, without taking any.
  folder.Put("c", image);
  std::filesystem::resize_file(folder / "c", std::uintmax_t{50} << 30);
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadAnyImageFile(folder / "c"); }),
              HasSubstr("c: found 53687091200 bytes, expected at most the 24777216 that an image of 1000000 "
                        "values may take"));
}

TEST(IsImage, KnowsBothFormatsByTheirFirstBytes) {
  EXPECT_TRUE(IsImage(Png(kGrey, {0, 1, 2, 3, 4, 255}).substr(0, 8)));
  EXPECT_TRUE(IsImage(Jpeg({200}).substr(0, 8)));
  EXPECT_FALSE(IsImage("\x89PNG\r\n"));
  EXPECT_FALSE(IsImage("x,y\n1,2\n"));
}

}  // namespace
}  // namespace trefoil::data

#include "data/formats/image_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/formats/image_file.h"
#include "tests/data/image_bytes.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Pixels = std::vector<std::uint8_t>;

class DecodeImageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!ImagesAreAvailable()) GTEST_SKIP() << "built without images (TREFOIL_IMAGES)";
  }

  static Pixels Decode(const std::string& bytes, const ImageSize& size) {
    return DecodeImage(CheckedImage(bytes, size, "a"), size, "a");
  }
};

TEST_F(DecodeImageTest, GivesTheValuesOfAPng) {
  const ImageSize grey{.height = 2, .width = 3};
  EXPECT_EQ(Decode(Png(grey, {0, 1, 2, 3, 4, 255}), grey), (Pixels{0, 1, 2, 3, 4, 255}));
  const ImageSize colour{.height = 2, .width = 2, .channels = 3};
  const Pixels values{255, 0, 1, 0, 255, 2, 0, 3, 255, 9, 8, 7};
  EXPECT_EQ(Decode(Png(colour, values), colour), values);
}

TEST_F(DecodeImageTest, GivesAPaletteAndFewBitsAsWhatTheyStandFor) {
  const ImageSize colour{.height = 1, .width = 2, .channels = 3};
  const auto palette = PngChunk("PLTE", std::string("\x01\x02\x03\xff\x80\x04", 6));
  EXPECT_EQ(Decode(Png(colour, std::string("\x01\0", 2), {.colours = 3, .chunks = palette}), colour),
            (Pixels{255, 128, 4, 1, 2, 3}));
  const ImageSize grey{.height = 1, .width = 8};
  EXPECT_EQ(Decode(Png(grey, "\xa1", {.colours = 0, .bits = 1}), grey),
            (Pixels{255, 0, 255, 0, 0, 0, 0, 255}));
}

TEST_F(DecodeImageTest, GivesTheValuesOfAJpeg) {
  EXPECT_EQ(Decode(Jpeg({200}), {8, 8}), Pixels(64, 200));
  // Y = 200, Cb = Cr = 64: R = Y + 1.402 (Cr - 128), G = Y - 0.344 (Cb - 128) - 0.714 (Cr - 128), B with 1.772.
  const auto values = Decode(Jpeg({200, 64, 64}), {8, 8, 3});
  for (std::size_t i = 0; i < values.size(); i += 3)
    EXPECT_THAT(Pixels(values.begin() + static_cast<std::ptrdiff_t>(i),
                       values.begin() + static_cast<std::ptrdiff_t>(i) + 3),
                ElementsAre(110, 255, 87));
}

TEST_F(DecodeImageTest, PutsThePassesOfAnInterlacedPngTogether) {
  // Of one row the passes have pixels 0, 4, 2 and 6, and the odd ones.
  const ImageSize size{.height = 1, .width = 8};
  const std::string rows("\0a\0e\0cg\0bdfh", 12);
  EXPECT_EQ(Decode(PngOfRows(size, rows, {.colours = 0, .interlaced = true}), size),
            (Pixels{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}));
}

TEST_F(DecodeImageTest, NamesAPngWhosePixelsAreTooFewOrNone) {
  const ImageSize grey{.height = 2, .width = 3};
  // Checksums are right.
  for (const std::size_t pixels : {4, 2}) {
    const auto bytes = Png(grey, std::string(pixels, 'x'), {.colours = 0});
    EXPECT_THAT(
        ErrorText<DataError>([&] { (void)Decode(bytes, grey); }),
        AllOf(HasSubstr("a: found a damaged PNG file ("), HasSubstr("), expected a whole PNG or JPEG file")));
  }
  std::string damaged = Png(grey, {0, 1, 2, 3, 4, 255});
  damaged[50] = static_cast<char>(damaged[50] ^ 1);  // in the pixels, whose checksum is then another one
  EXPECT_EQ(ErrorText<DataError>([&] { (void)Decode(damaged, grey); }),
            "a: found a damaged PNG file, expected a whole PNG or JPEG file");
}

TEST_F(DecodeImageTest, NamesAPngWhosePixelsAreMoreOrHaveAnotherSum) {
  const ImageSize grey{.height = 1, .width = 3};
  const std::string row("\0abc", 4);
  const auto error = [&](const std::string& bytes) {
    return ErrorText<DataError>([&] { (void)Decode(bytes, grey); });
  };
  EXPECT_EQ(error(PngOfRows(grey, row, {.colours = 0})), "");
  // What libpng warns of alone.
  EXPECT_THAT(error(PngOfRows(grey, row + row, {.colours = 0})), HasSubstr("a: found a damaged PNG file ("));
  const auto whole = PngOfRows(grey, row, {.colours = 0});
  const auto pixels = whole.find("IDAT") + 4;
  auto packed = whole.substr(pixels, whole.find("IEND") - 8 - pixels);
  packed.back() = static_cast<char>(packed.back() ^ 1);
  EXPECT_THAT(error(whole.substr(0, pixels - 8) + PngChunk("IDAT", packed) + PngChunk("IEND", "")),
              HasSubstr("a: found a damaged PNG file ("));
}

TEST_F(DecodeImageTest, RefusesEveryCutOfAJpeg) {
  const auto whole = Jpeg({200, 64, 64});
  const ImageSize size{.height = 8, .width = 8, .channels = 3};
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW((void)Decode(whole.substr(0, length), size), DataError) << length;
  EXPECT_EQ(Decode(whole + "behind", size), Decode(whole, size));
}

TEST(RequireImages, NamesTheBuildOption) {
  if (ImagesAreAvailable()) GTEST_SKIP() << "built with images";
  EXPECT_THAT(ErrorText<ConfigError>([] { RequireImages(); }), HasSubstr("-DTREFOIL_IMAGES=ON"));
  EXPECT_THAT(ErrorText<ConfigError>([] {
                (void)DecodeImage("", {1, 1}, "a");
              }),
              HasSubstr("libturbojpeg0-dev"));
}

}  // namespace
}  // namespace trefoil::data

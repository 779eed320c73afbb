// JPEG files of many blocks, which libjpeg writes here, whole and damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <cstdlib>

#include "data/formats/image_decoder.h"
#include "data/formats/image_file.h"
#include "tests/data/image_bytes.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;
using Pixels = std::vector<std::uint8_t>;

constexpr ImageSize kSize{.height = 48, .width = 64, .channels = 3};
const std::string kEnd = "\xff\xd9";

/// A slope with noise, so that every block has many coefficients.
Pixels Noisy(const ImageSize& size) {
  Pixels values;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < size.values(); ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(static_cast<std::uint8_t>(i * 100 / size.values() + 50 + (state >> 26)));
  }
  return values;
}

std::string Written(const ImageSize& size, int flags = 0, int sampling = TJSAMP_444, int format = TJPF_RGB) {
  const auto pixels = Noisy(size);
  auto* handle = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long length = 0;
  EXPECT_EQ(tjCompress2(handle, pixels.data(), size.width, 0, size.height, format, &bytes, &length, sampling,
                        90, flags),
            0);
  const std::string written(reinterpret_cast<const char*>(bytes), length);
  tjFree(bytes);
  tjDestroy(handle);
  return written;
}

Pixels Decode(const std::string& bytes, const ImageSize& size = kSize) {
  return DecodeImage(CheckedImage(bytes, size, "a"), size, "a");
}

std::string ErrorOf(const std::string& bytes) {
  return ErrorText<DataError>([&] { (void)Decode(bytes); });
}

TEST(DecodeJpeg, GivesWhatWasWrittenWithinItsLoss) {
  const auto values = Decode(Written(kSize));
  const auto pixels = Noisy(kSize);
  double sum = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) sum += std::abs(values[i] - pixels[i]);
  EXPECT_LT(sum / static_cast<double>(pixels.size()), 8.0);
}

TEST(DecodeJpeg, GivesAProgressiveFileTheSameBits) {
  for (const int sampling : {TJSAMP_444, TJSAMP_420})
    EXPECT_EQ(Decode(Written(kSize, TJFLAG_PROGRESSIVE, sampling)), Decode(Written(kSize, 0, sampling)));
}

TEST(DecodeJpeg, RefusesAFileThatIsCutOffWithAnEndOrWithout) {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const auto whole = Written(kSize, flags);
    for (const std::size_t size : {whole.size() / 3, whole.size() / 2, whole.size() - 40}) {
      EXPECT_THAT(ErrorOf(whole.substr(0, size)), HasSubstr("a: found a damaged JPEG file (")) << size;
      EXPECT_THAT(ErrorOf(whole.substr(0, size) + kEnd), HasSubstr("a: found a damaged JPEG file (")) << size;
    }
    for (const std::size_t missing : {1, 2}) {
      EXPECT_EQ(
          ErrorOf(whole.substr(0, whole.size() - missing)),
          "a: found a damaged JPEG file (Premature end of JPEG file), expected a whole PNG or JPEG file");
    }
  }
}

TEST(DecodeJpeg, RefusesAHole) {
  const auto whole = Written(kSize);
  for (const std::size_t part : {3, 4, 5}) {
    auto other = whole;
    other.replace(whole.size() / part, 2000, std::string(2000, '\0'));
    EXPECT_THAT(ErrorOf(other), HasSubstr("a: found a damaged JPEG file (")) << part;
  }
}

TEST(DecodeJpeg, PassesOverWhatStandsBehindTheEnd) {
  EXPECT_EQ(Decode(Written(kSize) + "\n"), Decode(Written(kSize)));
  EXPECT_EQ(Decode(Written(kSize) + Written({8, 8, 3})), Decode(Written(kSize)));
}

TEST(DecodeJpeg, DoesNotTurnWhatACameraNotedToBeTurned) {
  // One entry of EXIF's first directory: orientation (0x0112), a short, 6 (a quarter turn).
  const std::string exif =
      std::string("Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 32);
  auto noted = Written(kSize);
  noted.insert(2, "\xff\xe1" + BigEndian(exif.size() + 2, 2) + exif);
  EXPECT_EQ(Decode(noted), Decode(Written(kSize)));
}

TEST(DecodeJpeg, RefusesFourColoursOfInk) {
  const ImageSize ink{.height = 48, .width = 64, .channels = 4};
  EXPECT_EQ(ErrorOf(Written(ink, 0, TJSAMP_444, TJPF_CMYK)),
            "a: found 48 x 64 x 4 pixels, expected 48 x 64 x 3 (features.image)");
}

}  // namespace
}  // namespace trefoil::data

#include "data/formats/image_file.h"

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpegMagic = "\xff\xd8\xff";
constexpr std::size_t kPngHead = 33;  // the magic bytes and the first chunk, which has the size
constexpr std::size_t kChunkFrame = 12;
constexpr std::uint64_t kMaxBytesBeside = std::uint64_t{16} << 20;  // profiles, thumbnails, texts
constexpr std::uint64_t kMaxBytesPerValue = 8;
constexpr std::uint64_t kMaxValues = 1'000'000;  // of a record

/// What an image's head says of its pixels.
struct ImageHead {
  std::uint64_t height = 0;
  std::uint64_t width = 0;
  int channels = 0;
  int bits = 0;
};

int ImageByte(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

std::uint64_t ImageNumber(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < count; ++k)
    number = number * 256 + static_cast<std::uint64_t>(ImageByte(bytes, at + k));
  return number;
}

[[noreturn]] void RefuseFile(const fs::path& place, const char* found) {
  ThrowDataError(place, "", found, "a whole PNG or JPEG file");
}

ImageHead PngHead(std::string_view bytes, const fs::path& place) {
  // 0 grey, 2 colour, 3 a palette; 4 and 6 the first two with transparency.
  const int colours = ImageByte(bytes, 25);
  if (bytes.substr(8, 8) != std::string_view("\0\0\0\x0dIHDR", 8) || colours > 6 || colours == 1 ||
      colours == 5)
    RefuseFile(place, "a PNG file without a head");
  if (colours == 4 || colours == 6)
    ThrowDataError(place, "", "transparency (an alpha channel)", "an image without it");
  return {.height = ImageNumber(bytes, 20, 4),
          .width = ImageNumber(bytes, 16, 4),
          .channels = colours == 0 ? 1 : 3,
          .bits = ImageByte(bytes, 24)};
}

/// The head of a JPEG file's frame, which other segments may precede; nothing while more bytes are needed.
std::optional<ImageHead> JpegHead(std::string_view bytes, const fs::path& place) {
  std::size_t at = 2;
  for (;;) {
    const auto segment = at;
    while (at < bytes.size() && ImageByte(bytes, at) == 0xff) ++at;
    if (at + 3 > bytes.size()) return {};
    const int mark = ImageByte(bytes, at);
    const auto length = ImageNumber(bytes, at + 1, 2);
    const bool frame = mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc;
    // 0xda begins the pixels, 0xd0 to 0xd9 have no place before them.
    if (at == segment || length < 2 || mark < 0xc0 || (mark >= 0xd0 && mark <= 0xda))
      RefuseFile(place, "a JPEG file without a head");
    // Hardly any file has it, and of one that is cut off libjpeg's decoder of it does not warn.
    if (frame && mark >= 0xc9)
      ThrowDataError(place, "", "a JPEG file in arithmetic code", "one in Huffman code");
    if (frame && at + 9 > bytes.size()) return {};
    if (frame)
      return ImageHead{.height = ImageNumber(bytes, at + 4, 2),
                       .width = ImageNumber(bytes, at + 6, 2),
                       .channels = ImageByte(bytes, at + 8),
                       .bits = ImageByte(bytes, at + 3)};
    at += 1 + length;
  }
}

/// Nothing while more bytes are needed.
std::optional<ImageHead> ImageHeadOf(std::string_view bytes, const fs::path& place) {
  if (bytes.starts_with(kPngMagic))
    return bytes.size() < kPngHead ? std::nullopt : std::optional(PngHead(bytes, place));
  if (bytes.starts_with(kJpegMagic)) return JpegHead(bytes, place);
  if (kPngMagic.starts_with(bytes.substr(0, kPngMagic.size())) || kJpegMagic.starts_with(bytes.substr(0, 3)))
    return {};
  RefuseFile(place, "something else");
}

void CheckImageHead(const ImageHead& head, const ImageSize& size, const fs::path& place) {
  const auto found = std::to_string(head.height) + " x " + std::to_string(head.width) +
                     (head.channels == 1 ? "" : " x " + std::to_string(head.channels));
  if (head.height != static_cast<std::uint64_t>(size.height) ||
      head.width != static_cast<std::uint64_t>(size.width) || head.channels != size.channels)
    ThrowDataError(place, "", found + " pixels", SizeText(size) + " (features.image)");
  if (head.bits > 8) ThrowDataError(place, "", std::to_string(head.bits) + " bits a value", "8 at most");
}

/// What the pixels need. Each chunk is the length of what it has, its name, that, and a checksum of both; a
/// small first letter names one that a decoder may pass over: profiles and texts, which libpng would apply,
/// or warn of.
std::string CriticalChunks(std::string_view bytes, const fs::path& place) {
  std::string kept(kPngMagic);
  for (std::size_t at = kPngMagic.size();;) {
    const auto left = bytes.size() - at;
    const auto length = left < kChunkFrame ? 0 : ImageNumber(bytes, at, 4);
    if (left < kChunkFrame || left - kChunkFrame < length) RefuseFile(place, "a PNG file that is cut off");
    const auto named = bytes.substr(at + 4, length + 4);
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(named.data()), named.size());
    if (sum != ImageNumber(bytes, at + 8 + length, 4)) RefuseFile(place, "a damaged PNG file");
    if (named.starts_with("tRNS")) ThrowDataError(place, "", "transparency", "an image without it");
    if (named.front() >= 'A' && named.front() <= 'Z') kept += bytes.substr(at, kChunkFrame + length);
    if (named.starts_with("IEND")) return kept;
    at += kChunkFrame + length;
  }
}

/// The content of a file that an image of this number of values may have. `check` is given what it begins
/// with, refuses what is no such image, and says whether that was enough of it.
std::string ReadBounded(const fs::path& path, std::uint64_t values,
                        const std::function<bool(std::string_view start)>& check) {
  const auto max = kMaxBytesBeside + kMaxBytesPerValue * values;
  // Larger files are refused here: what reads them would say that an image's head names this size.
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (!error && bytes > max)
    ThrowDataError(path, "", std::to_string(bytes) + " bytes",
                   "at most the " + std::to_string(max) + " that an image of " + std::to_string(values) +
                       " values may take");
  return ReadFile(path, [&](std::string_view start) -> std::optional<std::uint64_t> {
    if (!check(start)) return {};
    return max;
  });
}

}  // namespace

std::string CheckedImage(std::string bytes, const ImageSize& size, const fs::path& place) {
  Require(size.given() && (size.channels == 1 || size.channels == 3), "CheckedImage: grey or colour");
  const auto head = ImageHeadOf(bytes, place);
  if (!head) RefuseFile(place, bytes.empty() ? "an empty file" : "an image that is cut off");
  CheckImageHead(*head, size, place);
  if (bytes.starts_with(kPngMagic)) return CriticalChunks(bytes, place);
  return bytes;
}

bool IsImage(std::string_view head) { return head.starts_with(kPngMagic) || head.starts_with(kJpegMagic); }

bool IsImageFile(const fs::path& path) { return IsImage(ReadHead(path, kPngMagic.size())); }

std::string ReadImageFile(const fs::path& path, const ImageSize& size) {
  const auto check = [&](std::string_view start) {
    const auto head = ImageHeadOf(start, path);
    if (head) CheckImageHead(*head, size, path);
    return head.has_value();
  };
  return CheckedImage(ReadBounded(path, static_cast<std::uint64_t>(size.values()), check), size, path);
}

std::string ReadAnyImageFile(const fs::path& path) {
  auto content = ReadBounded(path, kMaxValues, [](std::string_view /*start*/) { return true; });
  if (!IsImage(content)) RefuseFile(path, "something else");
  return content;
}

}  // namespace trefoil::data

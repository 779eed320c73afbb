#pragma once
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/features/image.h"

namespace trefoil::data {

/// `number` in `count` bytes, the highest first.
inline std::string BigEndian(std::uint64_t number, int count) {
  std::string bytes;
  for (int k = count - 1; k >= 0; --k) bytes += static_cast<char>((number >> (8 * k)) & 0xff);
  return bytes;
}

inline std::string PngChunk(std::string_view name, std::string_view content) {
  const auto named = std::string(name) + std::string(content);
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(named.data()), named.size());
  return BigEndian(content.size(), 4) + named + BigEndian(sum, 4);
}

/// How a PNG file is written: `colours` as its head has them, other chunks in front of the pixels.
struct PngForm {
  int colours = 2;
  int bits = 8;
  std::string chunks{};
  bool interlaced = false;  ///< then rows are those of the seven passes
};

/// A PNG file of these rows, each a byte that names its filter (0: none) and its pixels.
inline std::string PngOfRows(const ImageSize& size, std::string_view rows, const PngForm& form) {
  auto length = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(length, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &length, reinterpret_cast<const Bytef*>(rows.data()),
           static_cast<uLong>(rows.size()));
  packed.resize(length);
  const auto head = BigEndian(static_cast<std::uint64_t>(size.width), 4) +
                    BigEndian(static_cast<std::uint64_t>(size.height), 4) + static_cast<char>(form.bits) +
                    static_cast<char>(form.colours) + std::string(2, '\0') +
                    static_cast<char>(form.interlaced);
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", head) + form.chunks + PngChunk("IDAT", packed) +
         PngChunk("IEND", "");
}

/// A PNG file of these bytes of pixels, row by row.
inline std::string Png(const ImageSize& size, std::string_view pixels, const PngForm& form) {
  const auto row = pixels.size() / static_cast<std::size_t>(size.height);
  std::string rows;
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y)
    rows.append(1, '\0').append(pixels.substr(y * row, row));
  return PngOfRows(size, rows, form);
}

/// The same of grey, or of red, green and blue side by side.
inline std::string Png(const ImageSize& size, const std::vector<std::uint8_t>& values) {
  return Png(size, std::string(values.begin(), values.end()), {.colours = size.channels == 1 ? 0 : 2});
}

/// A JPEG file of 8 x 8 pixels alike, whose head names this number of bits a value: grey, or luminance and two
/// differences of colour, each 1 to 64 or 192 to 255. The one code for a block's mean has seven bits more.
inline std::string Jpeg(const std::vector<int>& values, int bits = 8) {
  const auto count = static_cast<int>(values.size());
  std::string frame;
  std::string scan;
  std::uint64_t code = 0;
  for (int k = 0; k < count; ++k) {
    const int mean = values[static_cast<std::size_t>(k)] - 128;
    code = (code << 9) | static_cast<std::uint64_t>((mean < 0 ? mean + 127 : mean) << 1);
    frame += static_cast<char>(k + 1) + std::string("\x11\0", 2);
    scan += static_cast<char>(k + 1) + std::string(1, '\0');
  }
  const int fill = (8 - 9 * count % 8) % 8;
  code = ((code + 1) << fill) - 1;
  const auto table = [](const char* kind) {
    return "\xff\xc4" + BigEndian(20, 2) + kind[0] + '\x01' + std::string(15, '\0') + kind[1];
  };
  return "\xff\xd8\xff\xdb" + BigEndian(67, 2) + std::string("\0\x08", 2) + std::string(63, '\x01') +
         "\xff\xc0" + BigEndian(static_cast<std::uint64_t>(8 + 3 * count), 2) + static_cast<char>(bits) +
         BigEndian(8, 2) + BigEndian(8, 2) + static_cast<char>(count) + frame + table("\0\x07") +
         table("\x10\0") + "\xff\xda" + BigEndian(static_cast<std::uint64_t>(6 + 2 * count), 2) +
         static_cast<char>(count) + scan + std::string("\0\x3f\0", 3) +
         BigEndian(code, (9 * count + fill) / 8) + "\xff\xd9";
}

}  // namespace trefoil::data

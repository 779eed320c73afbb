#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "data/features/image.h"

namespace trefoil::data {

/// What a decoder is to be given of a PNG or JPEG file, which it is by what it begins with. It has this
/// size, one value (grey) or three (colour) a pixel, of eight bits at most; a PNG is whole: its chunks have
/// their checksums up to the last, and no transparency. Colours of a palette count as three values. Of a
/// PNG those chunks are left that its pixels need; of a JPEG nothing behind its head is looked at, which
/// DecodeImage() does. Nothing is decoded. Throws DataError naming `place` otherwise. Pre: the image has
/// pixels, and one channel or three. Sources: PNG specification, third edition, section 5; ITU-T T.81,
/// annex B (of its codes Huffman's alone is taken).
[[nodiscard]] std::string CheckedImage(std::string bytes, const ImageSize& size,
                                       const std::filesystem::path& place);

/// Whether a file that begins so (eight bytes are enough) is of one of these formats.
[[nodiscard]] bool IsImage(std::string_view head);

/// Whether the file begins so. Throws DataError as ReadHead().
[[nodiscard]] bool IsImageFile(const std::filesystem::path& path);

/// CheckedImage() of a file. Memory: no more than twice 16 MiB and eight bytes a value; a file whose head
/// has another size is not read further. Throws DataError as CheckedImage() and ReadFile(), and where the
/// file is larger than that, or its head does not end within its first mebibyte.
[[nodiscard]] std::string ReadImageFile(const std::filesystem::path& path, const ImageSize& size);

/// The content of a PNG or JPEG file of any size, for who looks at its bytes alone. Memory: no more than 16
/// MiB and eight bytes for each of 10^6 values, the most that a record has. Throws DataError as ReadFile(),
/// for another file, and where it is larger than that.
[[nodiscard]] std::string ReadAnyImageFile(const std::filesystem::path& path);

}  // namespace trefoil::data

#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "data/features/image.h"

namespace trefoil::data {

/// Whether this build can decode images.
[[nodiscard]] bool ImagesAreAvailable();

/// Throws ConfigError naming the build option if it cannot.
void RequireImages();

/// The values of an image, 0 to 255, row by row, the channels of a pixel side by side: grey, or red, green
/// and blue. A turn that a camera noted, colour profiles and gamma are not looked at, nor what stands
/// behind the image's end. Pre: the bytes are a CheckedImage() of this size. Throws ConfigError as
/// RequireImages(); DataError naming `place`, and what the library says, where this is no such image or a
/// damaged one: whatever it warns of counts. What no checksum shows, and still is a code of as many pixels,
/// is decoded as it is: a JPEG has none, and one of several scans may end between two; a colour that is not
/// in a PNG's palette is black. Nothing is written to the standard streams. Sources: libpng 1.6
/// (png_image), TurboJPEG 2.1 (tjDecompress2).
[[nodiscard]] std::vector<std::uint8_t> DecodeImage(std::string_view bytes, const ImageSize& size,
                                                    const std::filesystem::path& place);

}  // namespace trefoil::data

#pragma once
#include <cstdint>
#include <string>

namespace trefoil::data {

/// The public size of images whose rows of pixels follow each other in a row of a matrix, the channels of a
/// pixel side by side.
struct ImageSize {
  int height = 0;
  int width = 0;
  int channels = 1;  ///< 1: grey

  /// False for an image of no pixels, which stands for no image.
  [[nodiscard]] bool given() const { return pixels() != 0; }
  [[nodiscard]] std::int64_t pixels() const { return std::int64_t{height} * width; }
  [[nodiscard]] std::int64_t values() const { return pixels() * channels; }
  [[nodiscard]] bool operator==(const ImageSize&) const = default;
};

/// "28 x 28", or "32 x 32 x 3" with channels.
[[nodiscard]] inline std::string SizeText(const ImageSize& size) {
  auto text = std::to_string(size.height) + " x " + std::to_string(size.width);
  return size.channels == 1 ? text : text + " x " + std::to_string(size.channels);
}

}  // namespace trefoil::data

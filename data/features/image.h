#pragma once
#include <cstdint>

namespace trefoil::data {

/// The public size of grey images whose rows of pixels follow each other in a row of a matrix.
struct ImageSize {
  int height = 0;
  int width = 0;

  /// False for an image of no pixels, which stands for no image.
  [[nodiscard]] bool given() const { return pixels() != 0; }
  [[nodiscard]] std::int64_t pixels() const { return std::int64_t{height} * width; }
};

}  // namespace trefoil::data

#pragma once
#include <cstdint>

#include "base/threads/thread_pool.h"
#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// Parameters of histograms of oriented gradients.
struct HogSpec {
  int cell = 4;          ///< side of a square cell, in pixels
  int orientations = 9;  ///< bins over 0 to 180 degrees
  int block = 2;         ///< side of a square block, in cells; blocks overlap, with a stride of one cell
};

/// Width of the features: blocks * block^2 * orientations, however many channels there are; 1,296 for 28 x 28
/// pixels and the defaults. Pixels
/// right of and below the last whole cell lie in no cell. Throws ConfigError "features.KEY: found X, expected
/// Y" unless all parameters are at least 1 and the image holds a block.
[[nodiscard]] std::int64_t HogFeatures(const ImageSize& size, const HogSpec& spec);

/// Histograms of oriented gradients of images, one a row. The gradient at a pixel is the difference of its
/// two neighbours in each direction, pixels at the edge being repeated outside; where there are several
/// channels, that of the channel whose gradient is longest there, of equal ones the first. Its length is
/// shared between the two bins whose centres ((k + 1/2) 180 degrees / orientations, cyclic) are nearest to
/// its direction modulo 180 degrees, in proportion to nearness. Each block's cells, row by row, are divided
/// by sqrt(||v||^2 + 1e-10 * block^2): adding a constant to an image changes nothing, a constant image gives
/// zeros. Depends on the row alone. Order: block row, block column, cell row, cell column, orientation. Pre:
/// images.cols() is size.values(). Throws as HogFeatures(). Source: N. Dalal, B. Triggs: Histograms of
/// oriented gradients for human detection, CVPR 2005, section 6, without the interpolation between cells and
/// with the plain L2 norm.
[[nodiscard]] Matrix ExtractHog(const Matrix& images, const ImageSize& size, const HogSpec& spec,
                                ThreadPool& pool);

}  // namespace trefoil::data

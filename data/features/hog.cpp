#include "data/features/hog.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"

namespace trefoil::data {
namespace {

/// Images that one task takes at a time.
constexpr std::size_t kHogImagesATask = 16;
/// Beside the squared norm of a block's cells, for each cell: too small to matter but where nothing is.
constexpr float kSmallest = 1e-10F;

struct Layout {
  ImageSize size;
  HogSpec spec;
  int cell_rows;
  int cell_columns;
};

void CheckAtLeastOne(const char* key, int value) {
  if (value < 1) {
    throw ConfigError(std::string("features.") + key + ": found " + std::to_string(value) +
                      ", expected at least 1");
  }
}

Layout MakeLayout(const ImageSize& size, const HogSpec& spec) {
  CheckAtLeastOne("cell", spec.cell);
  CheckAtLeastOne("orientations", spec.orientations);
  CheckAtLeastOne("block", spec.block);
  const Layout layout{size, spec, size.height / spec.cell, size.width / spec.cell};
  if (layout.cell_rows < spec.block || layout.cell_columns < spec.block) {
    throw ConfigError("features.image: found " + std::to_string(size.height) + " x " +
                      std::to_string(size.width) + " pixels, expected room for " +
                      std::to_string(spec.block) + " x " + std::to_string(spec.block) + " cells of side " +
                      std::to_string(spec.cell));
  }
  return layout;
}

struct Gradient {
  float down;
  float right;
};

/// Of a pixel, from its neighbours' channels: the longest, of equal ones the first.
Gradient Steepest(const float* above, const float* below, const float* left, const float* right,
                  int channels) {
  Gradient steepest{below[0] - above[0], right[0] - left[0]};
  for (int k = 1; k < channels; ++k) {
    const Gradient other{below[k] - above[k], right[k] - left[k]};
    if (other.down * other.down + other.right * other.right >
        steepest.down * steepest.down + steepest.right * steepest.right)
      steepest = other;
  }
  return steepest;
}

/// Shares a gradient's length between the two nearest bins of a cell.
void Vote(const Gradient& gradient, int orientations, float* bins) {
  const auto [down, right] = gradient;
  const float length = std::sqrt(down * down + right * right);
  if (length == 0) return;
  const float turns = std::atan2(down, right) / std::numbers::pi_v<float>;  // in half turns, -1 to 1
  const auto count = static_cast<float>(orientations);
  const float place = (turns - std::floor(turns)) * count - 0.5F;  // in bins, from the first bin's centre
  const float below = std::floor(place);
  const float share = place - below;
  const int first = (static_cast<int>(below) + orientations) % orientations;
  bins[first] += (1 - share) * length;
  bins[(first + 1) % orientations] += share * length;
}

/// The histograms of all cells of one image, row by row.
void FillCells(const Layout& layout, const float* image, std::vector<float>& cells) {
  std::fill(cells.begin(), cells.end(), 0.0F);
  const auto [height, width, channels] = layout.size;
  const auto& spec = layout.spec;
  const int stride = width * channels;
  for (int row = 0; row < layout.cell_rows * spec.cell; ++row) {
    const float* here = image + row * stride;
    const float* above = row > 0 ? here - stride : here;
    const float* below = row + 1 < height ? here + stride : here;
    float* histograms = cells.data() + (row / spec.cell) * layout.cell_columns * spec.orientations;
    for (int column = 0; column < layout.cell_columns * spec.cell; ++column) {
      const float* left = here + (column > 0 ? column - 1 : column) * channels;
      const float* right = here + (column + 1 < width ? column + 1 : column) * channels;
      const auto gradient =
          Steepest(above + column * channels, below + column * channels, left, right, channels);
      Vote(gradient, spec.orientations, histograms + (column / spec.cell) * spec.orientations);
    }
  }
}

/// Writes one block, and returns where the next one goes.
float* WriteBlock(const Layout& layout, const std::vector<float>& cells, int row, int column, float* out) {
  const auto& spec = layout.spec;
  const int length = spec.block * spec.orientations;  // of a row of the block's cells
  float squares = kSmallest * static_cast<float>(spec.block * spec.block);
  for (int k = 0; k < spec.block; ++k) {
    const float* line = cells.data() + ((row + k) * layout.cell_columns + column) * spec.orientations;
    for (int i = 0; i < length; ++i) {
      out[k * length + i] = line[i];
      squares += line[i] * line[i];
    }
  }
  const float factor = 1 / std::sqrt(squares);
  for (int i = 0; i < spec.block * length; ++i) out[i] *= factor;
  return out + spec.block * length;
}

}  // namespace

std::int64_t HogFeatures(const ImageSize& size, const HogSpec& spec) {
  const auto layout = MakeLayout(size, spec);
  const auto blocks =
      std::int64_t{layout.cell_rows - spec.block + 1} * (layout.cell_columns - spec.block + 1);
  return blocks * spec.block * spec.block * spec.orientations;
}

Matrix ExtractHog(const Matrix& images, const ImageSize& size, const HogSpec& spec, ThreadPool& pool) {
  Require(images.cols() == size.values(), "ExtractHog: a row of as many values as the image size says");
  const auto layout = MakeLayout(size, spec);
  Matrix features(images.rows(), HogFeatures(size, spec));
  pool.ParallelFor(
      static_cast<std::size_t>(images.rows()), kHogImagesATask, [&](std::size_t begin, std::size_t end) {
        std::vector<float> cells(
            static_cast<std::size_t>(layout.cell_rows * layout.cell_columns * spec.orientations));
        for (auto i = static_cast<Eigen::Index>(begin); i < static_cast<Eigen::Index>(end); ++i) {
          FillCells(layout, images.row(i).data(), cells);
          float* out = features.row(i).data();
          for (int row = 0; row + spec.block <= layout.cell_rows; ++row) {
            for (int column = 0; column + spec.block <= layout.cell_columns; ++column)
              out = WriteBlock(layout, cells, row, column, out);
          }
        }
      });
  return features;
}

}  // namespace trefoil::data

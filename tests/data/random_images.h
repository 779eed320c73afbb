#pragma once
#include <random>

#include "data/dataset/table.h"
#include "data/features/features.h"

namespace trefoil::data {

/// Images of random bytes, scaled to [0, 1], from a fixed seed.
inline Matrix RandomImages(Eigen::Index count, const ImageSize& size, unsigned seed) {
  std::mt19937 random(seed);
  Matrix images(count, size.values());
  for (auto& value : images.reshaped()) value = static_cast<float>(random() % 256U) / 255.0F;
  return images;
}

}  // namespace trefoil::data

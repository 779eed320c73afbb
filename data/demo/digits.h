#pragma once
#include <cstdint>
#include <filesystem>

#include "data/formats/idx.h"

namespace trefoil::data {

/// Images of 28 x 28 grey values (0 background, 255 ink) and the digits 0 to 9 that they show.
struct Digits {
  IdxArray images;
  IdxArray labels;
};

/// Two sets of one seed share no image.
enum class DigitSet : std::uint64_t { kTrain = 0, kTest = 1, kValidation = 2 };

/// Handwriting-like digits, drawn from stroke descriptions of our own with random control points, affine
/// distortion, thickness and noise; the digits are uniform and independent. Image i depends on (seed, set, i)
/// alone, and only on IEEE 754 addition, multiplication, division and square root, so that it is the same on
/// every machine. Takes some 20 microseconds an image. The generator of the coins is for drawing only: no
/// secret may come from it.
[[nodiscard]] Digits DrawDigits(std::uint64_t seed, DigitSet set, std::size_t count);

/// Writes a training, a test and a validation set (unless that is empty) into a folder (made if needed) as
/// gzipped IDX files, the first two under MNIST's names.
void WriteDigits(const std::filesystem::path& folder, std::uint64_t seed, std::size_t train_count,
                 std::size_t test_count, std::size_t validation_count);

}  // namespace trefoil::data

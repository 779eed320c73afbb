#include "data/features/scattering_filters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/slow_scattering.h"

namespace trefoil::data {
namespace {

TEST(WaveletSpectrum, IsTheTransformOfTheSampledWavelet) {
  const SlowScattering slow({12, 20}, 2, 4);
  const ImageSize grid = slow.Padded();
  ASSERT_EQ(grid.height, 16);
  ASSERT_EQ(grid.width, 24);
  for (int scale = 0; scale < 2; ++scale) {
    for (int angle = 0; angle < 4; ++angle) {
      const auto spectrum = WaveletSpectrum(grid, 0, {scale, angle, 4});
      const auto wavelet = slow.Wavelet(scale, angle);
      ASSERT_EQ(spectrum.size(), wavelet.values.size());
      for (int k = 0; k < 16 * 24; k += 5) {
        std::complex<double> sum = 0;
        for (int n = 0; n < 16 * 24; ++n) {
          const double turns = k / 24 * (n / 24) / 16.0 + k % 24 * (n % 24) / 24.0;
          sum += wavelet.values[static_cast<std::size_t>(n)] * std::polar(1.0, -2 * std::numbers::pi * turns);
        }
        ASSERT_NEAR(spectrum[static_cast<std::size_t>(k)], sum.real(), 1e-6);
        ASSERT_NEAR(sum.imag(), 0, 1e-6);
      }
    }
  }
}

TEST(WaveletSpectrum, HasNoMeanAndPeaksAtItsFrequency) {
  // Angle 3 of 8 points down the rows; 3 pi / 4 is frequency 12 of 32, 3 pi / 8 is 6.
  for (int scale = 0; scale < 2; ++scale) {
    const auto spectrum = WaveletSpectrum({32, 32}, 0, {scale, 3, 8});
    EXPECT_NEAR(spectrum[0], 0, 1e-7);
    const auto largest = std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin();
    EXPECT_EQ(largest, (scale == 0 ? 12 : 6) * 32);
  }
}

TEST(WaveletSpectrum, OnCoarserGridsHasTheLowFrequencies) {
  const auto fine = WaveletSpectrum({32, 16}, 0, {2, 1, 8});
  const auto coarse = WaveletSpectrum({32, 16}, 1, {2, 1, 8});
  ASSERT_EQ(coarse.size(), 16U * 8U);
  for (int i = -8; i < 8; ++i) {
    for (int k = -4; k < 4; ++k) {
      EXPECT_EQ(coarse[static_cast<std::size_t>((i + 16) % 16 * 8 + (k + 8) % 8)],
                fine[static_cast<std::size_t>((i + 32) % 32 * 16 + (k + 16) % 16)]);
    }
  }
}

// The energy of a real signal's wavelet coefficients at a frequency and its negative, beside that of its
// average: where it is at most 1, the transform never moves two images apart (section 2.2 of the source).
TEST(WaveletSpectrum, KeepsTheEnergyOfASignalWithinBounds) {
  std::vector<double> energy(32 * 32);
  for (int n = 0; n < 32 * 32; ++n) {
    const double down = std::remainder(n / 32, 32) * 2 * std::numbers::pi / 32;
    const double right = std::remainder(n % 32, 32) * 2 * std::numbers::pi / 32;
    energy[static_cast<std::size_t>(n)] = std::exp(-1.6 * 1.6 * (down * down + right * right));
  }
  for (int scale = 0; scale < 2; ++scale) {
    for (int angle = 0; angle < 8; ++angle) {
      const auto spectrum = WaveletSpectrum({32, 32}, 0, {scale, angle, 8});
      for (int n = 0; n < 32 * 32; ++n) {
        const auto negative = static_cast<std::size_t>((32 - n / 32) % 32 * 32 + (32 - n % 32) % 32);
        const double one = spectrum[static_cast<std::size_t>(n)];
        const double other = spectrum[negative];
        energy[static_cast<std::size_t>(n)] += (one * one + other * other) / 2;
      }
    }
  }
  EXPECT_LE(*std::max_element(energy.begin(), energy.end()), 1.0);
  EXPECT_GE(*std::min_element(energy.begin(), energy.end()), 0.1);
}

TEST(LowPass, AveragesAConstantToItself) {
  for (const int level : {0, 1}) {
    const Matrix matrix = LowPass(32, level, 2, 7);
    ASSERT_EQ(matrix.rows(), 7);
    ASSERT_EQ(matrix.cols(), 32 >> level);
    EXPECT_LT((matrix.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-6);
  }
}

TEST(LowPass, IsTheGaussianAroundEachOutput) {
  const Matrix matrix = LowPass(32, 0, 2, 7);
  double sum = 0;
  for (int n = -16; n < 16; ++n) sum += std::exp(-n * n / (2 * 1.6 * 1.6));
  for (int i = 0; i < 7; ++i) {
    for (int n = -16; n < 16; ++n)
      EXPECT_NEAR(matrix(i, (4 * i + n + 32) % 32), std::exp(-n * n / (2 * 1.6 * 1.6)) / sum, 1e-6);
  }
}

}  // namespace
}  // namespace trefoil::data

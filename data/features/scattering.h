#pragma once
#include <cstdint>

#include "base/threads/thread_pool.h"
#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// Parameters of the wavelet scattering transform.
struct ScatterSpec {
  int scales = 2;   ///< J: averages over about 2^J pixels
  int angles = 8;   ///< L
  int groups = 27;  ///< channels of all colours are normalised in that many groups of equally many
};

/// Of one colour: 1 + J L + L^2 J (J - 1) / 2; 81 for the defaults.
[[nodiscard]] std::int64_t ScatteringChannels(const ScatterSpec& spec);

/// Width of the features: channels * (height >> J) * (width >> J), where channels is ScatteringChannels() for
/// each channel of the image; 3,969 for 28 x 28 grey pixels and the defaults, 15,552 for 32 x 32 x 3.
/// Throws ConfigError "features.KEY: found X, expected Y" unless scales is 1 ... 8, angles is 4 ... 64, both
/// sides of the image have 2^J pixels at least, and groups divides the number of channels.
[[nodiscard]] std::int64_t ScatteringFeatures(const ImageSize& size, const ScatterSpec& spec);

/// The scattering transform of second order of images, one a row, each colour by itself: with wavelets psi
/// (WaveletSpectrum) and the low-pass phi (LowPass),
///   S0 = x * phi,  S1 = |x * psi_1| * phi,  S2 = ||x * psi_1| * psi_2| * phi  where psi_2 is coarser than
///   psi_1,
/// each taken at every 2^J-th pixel; a modulus of scale j is computed at every 2^j-th pixel only. The image
/// is continued by its mirror image, 2^(J-1) pixels at least at each side, to multiples of 2^J, periodically.
/// Channels: of one colour after the other, S0; S1 by scale and angle; S2 by (scale, angle) of psi_1, then of
/// psi_2; each row by row. Those of all colours are one sequence, each group of which, of consecutive
/// channels, is then shifted and scaled to mean 0 and variance 1 (v over sqrt(variance + 1e-5)), which needs
/// nothing but the row: no statistics of private data.
/// Depends on the row alone; equal for any number of threads. Pre: images.cols() is size.values().
/// Throws as ScatteringFeatures().
/// Source: J. Bruna, S. Mallat: Invariant scattering convolution networks (2013); the group normalisation as
/// in F. Tramer, D. Boneh: Differentially private learning needs better features (2021), section 2.
[[nodiscard]] Matrix ExtractScattering(const Matrix& images, const ImageSize& size, const ScatterSpec& spec,
                                       ThreadPool& pool);

}  // namespace trefoil::data

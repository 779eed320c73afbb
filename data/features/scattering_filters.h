#pragma once
#include <vector>

#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// A Morlet wavelet on a periodic grid: a Gaussian of deviation 0.8 * 2^scale along its direction and
/// angles / 4 times that across, times a wave of frequency (3 pi / 4) / 2^scale along the direction, less
/// the multiple of the Gaussian that makes its sum zero. Directions: (angles / 2 - 1 - angle) pi / angles
/// from the axis downwards.
struct Wavelet {
  int scale = 0;  ///< 0 is the finest
  int angle = 0;  ///< 0 ... angles - 1
  int angles = 8;
};

/// The wavelet's Fourier transform (which is real) at the frequencies of the grid that takes every 2^level-th
/// sample of `grid`, row by row, each axis in the order 0, 1, ..., then the negative ones. At level 0 it is
/// the transform of the wavelet sampled at whole pixels and summed over the grid's periods; at higher levels
/// that transform cut to the coarser grid's band. Pre: the grid's sides are multiples of 2^(level + 1).
/// Source: J. Bruna, S. Mallat: Invariant scattering convolution networks (2013), section 2.1; parameters
/// as documented for Kymatio (M. Andreux et al., 2020).
[[nodiscard]] std::vector<float> WaveletSpectrum(const ImageSize& grid, int level, const Wavelet& wavelet);

/// The low-pass filter of the transform along one axis: row i gives sample i * 2^scales (counted on the
/// finest grid) of the periodic convolution of a signal on the grid of `level` with a Gaussian of sum 1 and
/// deviation 0.8 * 2^(scales - 1), cut to the grid's band. outputs x (length / 2^level). Pre: length is a
/// multiple of 2^scales, level < scales.
[[nodiscard]] Matrix LowPass(int length, int level, int scales, int outputs);

}  // namespace trefoil::data

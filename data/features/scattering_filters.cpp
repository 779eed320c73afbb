#include "data/features/scattering_filters.h"

#include <cmath>
#include <numbers>

namespace trefoil::data {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kFinestDeviation = 0.8;
constexpr double kFinestFrequency = 3 * kPi / 4;
/// Sampling at whole pixels repeats a spectrum every 2 pi. The narrowest Gaussian's spectrum has deviation
/// 1 / 0.8, so that what lies beyond this many periods is below exp(-100).
constexpr int kPeriods = 3;

struct Frequency {
  double down;
  double right;
};

/// The quadratic form of a Gaussian's spectrum.
struct Covariance {
  double down;
  double mixed;
  double right;
};

Covariance CovarianceOf(double along, double across, double theta) {
  const double c = std::cos(theta);
  const double s = std::sin(theta);
  const double a = along * along;
  const double b = across * across;
  return {.down = a * c * c + b * s * s, .mixed = (a - b) * c * s, .right = a * s * s + b * c * c};
}

/// Spectrum of the sampled Gaussian of sum 1.
double GaussianSpectrum(const Covariance& covariance, const Frequency& at) {
  double sum = 0;
  for (int i = -kPeriods; i <= kPeriods; ++i) {
    for (int k = -kPeriods; k <= kPeriods; ++k) {
      const double down = at.down + 2 * kPi * i;
      const double right = at.right + 2 * kPi * k;
      sum += std::exp(-(covariance.down * down * down + 2 * covariance.mixed * down * right +
                        covariance.right * right * right) /
                      2);
    }
  }
  return sum;
}

/// Position k of `count` as a frequency of a grid of `length` samples: 0, 1, ..., then the negative ones.
double FrequencyAt(int k, int count, int length) {
  const int signed_k = k < count / 2 ? k : k - count;
  return 2 * kPi * signed_k / length;
}

}  // namespace

std::vector<float> WaveletSpectrum(const ImageSize& grid, int level, const Wavelet& wavelet) {
  const double along = std::ldexp(kFinestDeviation, wavelet.scale);
  const double theta = (wavelet.angles / 2 - 1 - wavelet.angle) * kPi / wavelet.angles;
  const auto covariance = CovarianceOf(along, along * wavelet.angles / 4, theta);
  const double frequency = std::ldexp(kFinestFrequency, -wavelet.scale);
  const Frequency centre{.down = frequency * std::cos(theta), .right = frequency * std::sin(theta)};
  const double correction = GaussianSpectrum(covariance, centre) / GaussianSpectrum(covariance, {0, 0});
  const int rows = grid.height >> level;
  const int columns = grid.width >> level;
  std::vector<float> spectrum;
  spectrum.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < columns; ++k) {
      const Frequency at{FrequencyAt(i, rows, grid.height), FrequencyAt(k, columns, grid.width)};
      const Frequency from_centre{at.down - centre.down, at.right - centre.right};
      spectrum.push_back(static_cast<float>(GaussianSpectrum(covariance, from_centre) -
                                            correction * GaussianSpectrum(covariance, at)));
    }
  }
  return spectrum;
}

Matrix LowPass(int length, int level, int scales, int outputs) {
  const double deviation = std::ldexp(kFinestDeviation, scales - 1);
  const int count = length >> level;
  Matrix matrix(outputs, count);
  for (int i = 0; i < outputs; ++i) {
    for (int n = 0; n < count; ++n) {
      const int distance = (i << (scales - level)) - n;
      double sum = 0;
      for (int k = 0; k < count; ++k) {
        const double at = FrequencyAt(k, count, length);
        double spectrum = 0;
        for (int period = -kPeriods; period <= kPeriods; ++period) {
          const double shifted = deviation * (at + 2 * kPi * period);
          spectrum += std::exp(-shifted * shifted / 2);
        }
        sum += spectrum * std::cos(2 * kPi * k * distance / count);
      }
      matrix(i, n) = static_cast<float>(sum / count);
    }
  }
  return matrix;
}

}  // namespace trefoil::data

#pragma once
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// The scattering transform of one image from its definition, in double precision and in space: filters are
/// sampled pixel by pixel and summed over periods, convolutions are double sums, and only the band limit of
/// filters on coarse grids is found by a Fourier sum. What the fast transform is compared with.
class SlowScattering {
 public:
  using Complex = std::complex<double>;

  struct Signal {
    ImageSize grid;
    std::vector<Complex> values;
  };

  SlowScattering(const ImageSize& size, int scales, int angles)
      : size_(size), scales_(scales), angles_(angles) {}

  /// All channels before the group normalisation.
  [[nodiscard]] std::vector<double> Run(const Matrix& images, Eigen::Index image) const {
    const Signal x = Pad(images, image);
    std::vector<double> order0 = Average(x, 0);
    std::vector<double> order2;
    for (int j = 0; j < scales_; ++j) {
      for (int a = 0; a < angles_; ++a) {
        const Signal u = Modulus(x, 0, j, a);
        Append(order0, Average(u, j));
        for (int j2 = j + 1; j2 < scales_; ++j2) {
          for (int a2 = 0; a2 < angles_; ++a2) Append(order2, Average(Modulus(u, j, j2, a2), j2));
        }
      }
    }
    Append(order0, order2);
    return order0;
  }

  /// A wavelet sampled on the padded grid and summed over its periods.
  [[nodiscard]] Signal Wavelet(int j, int a) const {
    const double sigma = 0.8 * std::pow(2.0, j);
    const double theta = (angles_ / 2 - 1 - a) * std::numbers::pi / angles_;
    const double xi = 3 * std::numbers::pi / 4 / std::pow(2.0, j);
    const double slant = 4.0 / angles_;
    const auto gabor = [&](double frequency) {
      return Sample([=](double down, double right) {
        const double along = down * std::cos(theta) + right * std::sin(theta);
        const double across = -down * std::sin(theta) + right * std::cos(theta);
        const double square = along * along + slant * slant * across * across;
        return std::polar(std::exp(-square / (2 * sigma * sigma)), frequency * along) * slant /
               (2 * std::numbers::pi * sigma * sigma);
      });
    };
    Signal wave = gabor(xi);
    const Signal envelope = gabor(0);
    Complex sum = 0;
    Complex envelope_sum = 0;
    for (const auto value : wave.values) sum += value;
    for (const auto value : envelope.values) envelope_sum += value;
    for (std::size_t i = 0; i < wave.values.size(); ++i)
      wave.values[i] -= sum / envelope_sum * envelope.values[i];
    return wave;
  }

  [[nodiscard]] ImageSize Padded() const { return {PadLength(size_.height), PadLength(size_.width)}; }

 private:
  static void Append(std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  [[nodiscard]] int PadLength(int length) const {
    const int unit = 1 << scales_;
    int padded = 0;
    while (padded < length + unit) padded += unit;
    return padded;
  }

  /// The mirrored continuation, pixel by pixel: from the nearer edge of the original, the right one in doubt.
  [[nodiscard]] Signal Pad(const Matrix& images, Eigen::Index image) const {
    const ImageSize grid = Padded();
    const auto source = [](int place, int length, int padded) {
      if (place < length) return place;
      const int from_end = place - (length - 1);
      const int from_start = padded - place;
      return from_end <= from_start ? length - 1 - from_end : from_start;
    };
    Signal x{grid, {}};
    for (int i = 0; i < grid.height; ++i) {
      for (int k = 0; k < grid.width; ++k) {
        x.values.emplace_back(images(
            image, source(i, size_.height, grid.height) * size_.width + source(k, size_.width, grid.width)));
      }
    }
    return x;
  }

  [[nodiscard]] Signal Sample(const std::function<Complex(double, double)>& filter) const {
    const ImageSize grid = Padded();
    Signal sampled{grid, std::vector<Complex>(static_cast<std::size_t>(grid.pixels()))};
    const int reach = 4;  // periods at each side; the widest filter in the tests ends within one
    for (int i = -reach * grid.height; i < reach * grid.height; ++i) {
      for (int k = -reach * grid.width; k < reach * grid.width; ++k) {
        const int row = (i % grid.height + grid.height) % grid.height;
        const int column = (k % grid.width + grid.width) % grid.width;
        sampled.values[static_cast<std::size_t>(row * grid.width + column)] += filter(i, k);
      }
    }
    return sampled;
  }

  [[nodiscard]] Signal Gaussian() const {
    const double sigma = 0.8 * std::pow(2.0, scales_ - 1);
    return Sample([=](double down, double right) {
      return std::exp(-(down * down + right * right) / (2 * sigma * sigma)) /
             (2 * std::numbers::pi * sigma * sigma);
    });
  }

  /// A filter of the finest grid for signals on the grid of `level`: its low frequencies, as a filter there.
  [[nodiscard]] static Signal CutTo(const Signal& filter, int level) {
    if (level == 0) return filter;
    const ImageSize coarse{filter.grid.height >> level, filter.grid.width >> level};
    Signal cut{coarse, std::vector<Complex>(static_cast<std::size_t>(coarse.pixels()))};
    for (int f = -coarse.height / 2; f < coarse.height / 2; ++f) {
      for (int g = -coarse.width / 2; g < coarse.width / 2; ++g) {
        const Complex weight = Coefficient(filter, f, g) / static_cast<double>(coarse.pixels());
        for (std::size_t n = 0; n < cut.values.size(); ++n) cut.values[n] += weight * Wave(cut, n, f, g);
      }
    }
    return cut;
  }

  [[nodiscard]] static Complex Wave(const Signal& signal, std::size_t n, int f, int g) {
    const int row = static_cast<int>(n) / signal.grid.width;
    const int column = static_cast<int>(n) % signal.grid.width;
    return std::polar(1.0, 2 * std::numbers::pi *
                               (static_cast<double>(f * row) / signal.grid.height +
                                static_cast<double>(g * column) / signal.grid.width));
  }

  [[nodiscard]] static Complex Coefficient(const Signal& signal, int f, int g) {
    Complex sum = 0;
    for (std::size_t n = 0; n < signal.values.size(); ++n)
      sum += signal.values[n] * std::conj(Wave(signal, n, f, g));
    return sum;
  }

  /// Every `stride`-th value of a periodic convolution.
  [[nodiscard]] static Signal Convolve(const Signal& x, const Signal& filter, int stride) {
    const int height = x.grid.height;
    const int width = x.grid.width;
    Signal y{{height / stride, width / stride}, {}};
    for (int row = 0; row < height; row += stride) {
      for (int column = 0; column < width; column += stride) {
        Complex sum = 0;
        for (int i = 0; i < height; ++i) {
          for (int k = 0; k < width; ++k) {
            const int at = (row - i + height) % height * width + (column - k + width) % width;
            sum += x.values[static_cast<std::size_t>(i * width + k)] *
                   filter.values[static_cast<std::size_t>(at)];
          }
        }
        y.values.push_back(sum);
      }
    }
    return y;
  }

  [[nodiscard]] Signal Modulus(const Signal& x, int level, int j, int a) const {
    Signal y = Convolve(x, CutTo(Wavelet(j, a), level), 1 << (j - level));
    for (auto& value : y.values) value = std::abs(value);
    return y;
  }

  [[nodiscard]] std::vector<double> Average(const Signal& x, int level) const {
    const Signal y = Convolve(x, CutTo(Gaussian(), level), 1 << (scales_ - level));
    std::vector<double> kept;
    for (int i = 0; i < size_.height >> scales_; ++i) {
      for (int k = 0; k < size_.width >> scales_; ++k)
        kept.push_back(y.values[static_cast<std::size_t>(i * y.grid.width + k)].real());
    }
    return kept;
  }

  ImageSize size_;
  int scales_;
  int angles_;
};

}  // namespace trefoil::data

#include "data/features/scattering.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fft.h"
#include "data/features/scattering_filters.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kScatteredImagesATask = 16;  // images that one task takes at a time, at least
constexpr float kSmallestVariance = 1e-5F;

using Doubled = std::vector<float>;  // each factor twice, for the two parts of a complex number

std::size_t PixelsOf(const ImageSize& size) { return static_cast<std::size_t>(size.pixels()); }

[[noreturn]] void RefuseScattering(const char* key, const std::string& found, const std::string& expected) {
  throw ConfigError(std::string("features.") + key + ": found " + found + ", expected " + expected);
}

void CheckRange(const char* key, int value, int least, int most) {
  if (value < least || value > most) {
    RefuseScattering(key, std::to_string(value),
                     "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
}

/// What all images have in common: sizes, transforms and filters. Read-only once it is made.
class Scattering {
 public:
  Scattering(const ImageSize& size, const ScatterSpec& spec)
      : size_(size), spec_(spec), padded_{Padded(size.height), Padded(size.width)} {
    for (int level = 0; level < spec.scales; ++level) {
      ffts_.push_back(std::make_unique<Fft2d>(grid(level).height, grid(level).width));
      rows_.push_back(LowPass(padded_.height, level, spec.scales, outputs().height));
      columns_.push_back(LowPass(padded_.width, level, spec.scales, outputs().width).transpose());
      for (int scale = level; scale < spec.scales; ++scale) AppendFilters(level, scale);
    }
  }

  [[nodiscard]] const ScatterSpec& spec() const { return spec_; }
  [[nodiscard]] const ImageSize& size() const { return size_; }
  [[nodiscard]] ImageSize grid(int level) const { return {padded_.height >> level, padded_.width >> level}; }
  [[nodiscard]] ImageSize outputs() const {
    return {size_.height >> spec_.scales, size_.width >> spec_.scales};
  }
  [[nodiscard]] const Fft2d& fft(int level) const { return *ffts_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const Matrix& rows(int level) const { return rows_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const Matrix& columns(int level) const { return columns_[static_cast<std::size_t>(level)]; }

  /// The wavelet for spectra on the grid of `level`, over the number of its samples. Pre: level <= scale.
  [[nodiscard]] const Doubled& filter(int level, int scale, int angle) const {
    int place = scale - level;
    for (int before = 0; before < level; ++before) place += spec_.scales - before;
    return filters_[static_cast<std::size_t>(place * spec_.angles + angle)];
  }

 private:
  [[nodiscard]] int Padded(int length) const {
    const int unit = 1 << spec_.scales;
    return (length + 2 * unit - 1) / unit * unit;
  }

  void AppendFilters(int level, int scale) {
    const auto samples = static_cast<float>(grid(level).pixels());
    for (int angle = 0; angle < spec_.angles; ++angle) {
      Doubled doubled;
      for (const float value : WaveletSpectrum(padded_, level, {scale, angle, spec_.angles}))
        doubled.insert(doubled.end(), 2, value / samples);
      filters_.push_back(std::move(doubled));
    }
  }

  ImageSize size_;
  ScatterSpec spec_;
  ImageSize padded_;
  std::vector<std::unique_ptr<Fft2d>> ffts_;  // by level
  std::vector<Matrix> rows_;                  // low-pass from the left, by level
  std::vector<Matrix> columns_;               // and from the right
  std::vector<Doubled> filters_;              // by level, scale and angle
};

/// Multiplies a spectrum by a filter and folds it, so that its inverse transform has every 2^steps-th sample
/// of the product's.
void FilterAndFold(const FftBuffer& spectrum, const ImageSize& grid, const Doubled& filter, int steps,
                   FftBuffer& folded) {
  const auto* from = reinterpret_cast<const float*>(spectrum.data());
  auto* to = reinterpret_cast<float*>(folded.data());
  const int height = grid.height >> steps;
  const int floats = 2 * (grid.width >> steps);  // in a row of the folded spectrum
  std::fill_n(to, height * floats, 0.0F);
  for (int row = 0; row < grid.height; ++row) {
    float* target = to + row % height * floats;
    for (int part = 0; part < 1 << steps; ++part) {
      const int start = row * 2 * grid.width + part * floats;
      for (int i = 0; i < floats; ++i)
        target[i] += from[start + i] * filter[static_cast<std::size_t>(start + i)];
    }
  }
}

/// One image after the other, with the memory that this takes.
class Worker {
 public:
  explicit Worker(const Scattering& shared) : shared_(shared), image_(PixelsOf(shared.grid(0))) {
    for (int level = 0; level < shared.spec().scales; ++level) {
      const auto grid = shared.grid(level);
      spectra_.emplace_back(PixelsOf(grid));
      products_.emplace_back(PixelsOf(grid));
      moduli_.emplace_back(grid.height, grid.width);
    }
  }

  /// Writes all channels of one image to `out`.
  void Run(const float* image, float* out) {
    const auto values = shared_.outputs().pixels() * ScatteringChannels(shared_.spec());
    for (int colour = 0; colour < shared_.size().channels; ++colour)
      RunColour(image + colour, out + colour * values);
  }

 private:
  /// Of the colour whose first value is at `first`.
  void RunColour(const float* first, float* out) {
    LoadImage(first);
    auto& pixels = moduli_[0];
    for (Eigen::Index i = 0; i < pixels.size(); ++i) pixels.data()[i] = image_.data()[i].real();
    out = Average(pixels, 0, out);
    shared_.fft(0).Forward(image_);
    const auto& spec = shared_.spec();
    float* second = out + shared_.outputs().pixels() * spec.scales * spec.angles;
    for (int scale = 0; scale < spec.scales; ++scale) {
      for (int angle = 0; angle < spec.angles; ++angle) {
        const Matrix& modulus = Propagate(image_, 0, scale, angle);
        out = Average(modulus, scale, out);
        second = SecondOrder(modulus, scale, second);
      }
    }
  }

  void LoadImage(const float* first) {
    const auto& size = shared_.size();
    const auto grid = shared_.grid(0);
    for (int row = 0; row < grid.height; ++row) {
      const float* from = first + Mirror(row, size.height, grid.height) * size.width * size.channels;
      auto* to = image_.data() + row * grid.width;
      for (int column = 0; column < grid.width; ++column)
        to[column] = from[Mirror(column, size.width, grid.width) * size.channels];
    }
  }

  /// Which of `length` pixels continues an axis at `place` of a period of `padded`: the mirror image at the
  /// nearer end, without repeating the pixel there.
  static int Mirror(int place, int length, int padded) {
    if (place < length) return place;
    const int behind = place - length + 1;
    return behind <= padded - place ? length - 1 - behind : padded - place;
  }

  /// The modulus of a signal, given by its spectrum on the grid of `level`, after a wavelet, on the grid of
  /// its scale.
  const Matrix& Propagate(FftBuffer& spectrum, int level, int scale, int angle) {
    auto& product = products_[static_cast<std::size_t>(scale)];
    auto& modulus = moduli_[static_cast<std::size_t>(scale)];
    FilterAndFold(spectrum, shared_.grid(level), shared_.filter(level, scale, angle), scale - level, product);
    shared_.fft(scale).Backward(product);
    const auto* parts = reinterpret_cast<const float*>(product.data());
    float* squares = modulus.data();
    for (Eigen::Index i = 0; i < modulus.size(); ++i)
      squares[i] = parts[2 * i] * parts[2 * i] + parts[2 * i + 1] * parts[2 * i + 1];
    modulus.array() = modulus.array().sqrt();
    return modulus;
  }

  float* SecondOrder(const Matrix& modulus, int scale, float* out) {
    const auto& spec = shared_.spec();
    if (scale + 1 == spec.scales) return out;
    auto& spectrum = spectra_[static_cast<std::size_t>(scale)];
    std::copy_n(modulus.data(), modulus.size(), spectrum.data());
    shared_.fft(scale).Forward(spectrum);
    for (int next = scale + 1; next < spec.scales; ++next) {
      for (int angle = 0; angle < spec.angles; ++angle)
        out = Average(Propagate(spectrum, scale, next, angle), next, out);
    }
    return out;
  }

  /// Writes the low-pass of a signal on the grid of `level`, and returns where the next channel goes.
  float* Average(const Matrix& signal, int level, float* out) {
    const auto size = shared_.outputs();
    half_.noalias() = shared_.rows(level) * signal;
    Eigen::Map<Matrix>(out, size.height, size.width).noalias() = half_ * shared_.columns(level);
    return out + size.pixels();
  }

  const Scattering& shared_;
  FftBuffer image_;
  std::vector<FftBuffer> spectra_;  // by level, as the following
  std::vector<FftBuffer> products_;
  std::vector<Matrix> moduli_;
  Matrix half_;
};

void NormaliseGroups(Eigen::ArrayXf& row, int groups) {
  const auto length = row.size() / groups;
  for (Eigen::Index start = 0; start < row.size(); start += length) {
    auto group = row.segment(start, length);
    group -= group.mean();
    group /= std::sqrt(group.square().mean() + kSmallestVariance);
  }
}

}  // namespace

std::int64_t ScatteringChannels(const ScatterSpec& spec) {
  const std::int64_t scales = spec.scales;
  const std::int64_t angles = spec.angles;
  return 1 + scales * angles + angles * angles * scales * (scales - 1) / 2;
}

std::int64_t ScatteringFeatures(const ImageSize& size, const ScatterSpec& spec) {
  CheckRange("scales", spec.scales, 1, 8);
  CheckRange("angles", spec.angles, 4, 64);
  const int side = 1 << spec.scales;
  if (size.height < side || size.width < side) {
    RefuseScattering("image", std::to_string(size.height) + " x " + std::to_string(size.width) + " pixels",
                     "at least " + std::to_string(side) + " x " + std::to_string(side));
  }
  const auto channels = size.channels * ScatteringChannels(spec);
  if (spec.groups < 1 || channels % spec.groups != 0)
    RefuseScattering("groups", std::to_string(spec.groups),
                     "a divisor of the " + std::to_string(channels) + " channels");
  return channels * (size.height >> spec.scales) * (size.width >> spec.scales);
}

Matrix ExtractScattering(const Matrix& images, const ImageSize& size, const ScatterSpec& spec,
                         ThreadPool& pool) {
  Require(images.cols() == size.values(),
          "ExtractScattering: a row of as many values as the image size says");
  Matrix features(images.rows(), ScatteringFeatures(size, spec));
  const Scattering shared(size, spec);
  pool.ParallelFor(static_cast<std::size_t>(images.rows()), kScatteredImagesATask,
                   [&](std::size_t begin, std::size_t end) {
                     Worker worker(shared);
                     // Sums depend in their last bits on how memory is aligned, which this row always is in
                     // the same way.
                     Eigen::ArrayXf row(features.cols());
                     for (auto i = static_cast<Eigen::Index>(begin); i < static_cast<Eigen::Index>(end);
                          ++i) {
                       worker.Run(images.row(i).data(), row.data());
                       NormaliseGroups(row, spec.groups);
                       features.row(i) = row.matrix();
                     }
                   });
  return features;
}

}  // namespace trefoil::data

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/features/onnx_features.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::int64_t kMaxOutputs = 1'000'000;
constexpr std::size_t kHashDigits = 64;

[[noreturn]] void RefuseOnnx(const char* key, const std::string& found, const std::string& expected) {
  throw ConfigError(std::string("features.") + key + ": found " + found + ", expected " + expected);
}

std::string ShapeOf(const std::vector<int>& lengths) {
  std::string text;
  for (const int length : lengths) text += (text.empty() ? "[" : ", ") + std::to_string(length);
  return text + "]";
}

/// A network that is given an image in another order runs all the same, and its features mean nothing.
void CheckInputOfImage(const std::vector<int>& input, const ImageSize& image) {
  const auto& [height, width, channels] = image;
  const std::vector<int> first{channels, height, width};
  const std::vector<int> last{height, width, channels};
  const bool flat = input.size() == 1;
  const bool grey = channels == 1 && input == std::vector<int>{height, width};
  if (flat || grey || input == first || input == last) return;
  RefuseOnnx("input", ShapeOf(input),
             ShapeOf(first) + ", " + ShapeOf(last) + " or one length: images are " + SizeText(image) +
                 " (features.image)");
}

}  // namespace

void PutInOrderOf(const OnnxSpec& spec, const ImageSize& image, Matrix& x) {
  const auto channels = static_cast<std::size_t>(image.channels);
  if (channels == 1 || spec.input != std::vector<int>{image.channels, image.height, image.width}) return;
  std::vector<float> pixels(static_cast<std::size_t>(image.values()));
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    float* values = x.row(row).data();
    std::copy_n(values, pixels.size(), pixels.begin());
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (auto k = channel; k < pixels.size(); k += channels) *values++ = pixels[k];
    }
  }
}

void ValidateOnnx(const OnnxSpec& spec, std::int64_t columns, const ImageSize& image) {
  const bool digits = std::all_of(spec.model_sha256.begin(), spec.model_sha256.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (spec.model_sha256.size() != kHashDigits || !digits)
    RefuseOnnx("model_sha256", Quote(spec.model_sha256), "64 lower-case hexadecimal digits");
  std::int64_t product = 1;
  for (const int length : spec.input) product = length >= 1 && product <= columns ? product * length : 0;
  if (spec.input.empty() || spec.input.size() > 4 || product != columns) {
    RefuseOnnx("input", std::to_string(spec.input.size()) + " lengths of product " + std::to_string(product),
               "one to four of product " + std::to_string(columns) + " (data.features)");
  }
  if (image.given()) CheckInputOfImage(spec.input, image);
  if (spec.outputs < 1 || spec.outputs > kMaxOutputs)
    RefuseOnnx("outputs", std::to_string(spec.outputs), "1 to " + std::to_string(kMaxOutputs));
}

}  // namespace trefoil::data

#include <algorithm>

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

}  // namespace

void ValidateOnnx(const OnnxSpec& spec, std::int64_t columns) {
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
  if (spec.outputs < 1 || spec.outputs > kMaxOutputs)
    RefuseOnnx("outputs", std::to_string(spec.outputs), "1 to " + std::to_string(kMaxOutputs));
}

}  // namespace trefoil::data

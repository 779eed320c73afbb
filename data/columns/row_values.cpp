#include "data/columns/row_values.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "data/dataset/table.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

/// An array of images says how their values are ordered, by its shape: [height, width, channels], or without
/// channels where there is one; or that one before the others.
void CheckImageShape(const ImageSize& image, const std::filesystem::path& place,
                     const std::vector<std::size_t>& shape) {
  if (!image.given()) return;
  const auto height = static_cast<std::size_t>(image.height);
  const auto width = static_cast<std::size_t>(image.width);
  const std::vector<std::size_t> size(shape.begin() + 1, shape.end());
  if (size == std::vector{height, width, static_cast<std::size_t>(image.channels)}) return;
  if (image.channels == 1 &&
      (size == std::vector{height, width} || size == std::vector{std::size_t{1}, height, width}))
    return;
  std::string found;
  for (const auto side : size) found += (found.empty() ? "" : " x ") + std::to_string(side);
  ThrowDataError(place, "", found + " images", SizeText(image));
}

/// Of bytes none of which is refused. Divisions would take as long as all else that is done for a step's
/// rows.
void QuotientsOf(std::span<const std::uint8_t> bytes, double scale, float* out) {
  std::array<float, 256> quotients{};
  for (std::size_t byte = 0; byte < quotients.size(); ++byte)
    quotients[byte] = static_cast<float>(static_cast<double>(byte) / scale);
  for (std::size_t i = 0; i < bytes.size(); ++i) out[i] = quotients[bytes[i]];
}

}  // namespace

void CheckRowShape(const DataSpec& spec, const std::filesystem::path& place,
                   const std::vector<std::size_t>& shape, std::size_t values) {
  std::size_t columns = shape.size() < 2 ? 0 : 1;
  for (std::size_t k = 1; k < shape.size(); ++k) columns *= shape[k];
  const auto features = static_cast<std::size_t>(spec.features);
  // With no rows the product can overflow, but then the number of values is 0 whatever the shape.
  if (columns != features || values != shape.front() * features) {
    ThrowDataError(place, "", std::to_string(columns) + " features in a row", std::to_string(features));
  }
  if (shape.size() > 2) CheckImageShape(spec.image, place, shape);
}

template <typename T>
void ToFeatures(const DataSpec& spec, const std::filesystem::path& place, std::size_t first,
                std::span<const T> values, float* out) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (std::numeric_limits<T>::max() / spec.scale <= kLargestValue)
      return QuotientsOf(values, spec.scale, out);
  }
  const auto features = static_cast<std::size_t>(spec.features);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]) / spec.scale;
    if (!(std::abs(value) <= kLargestValue)) {
      const std::size_t at = first + i;
      ThrowDataError(
          place, "row " + std::to_string(at / features + 1) + ", column " + std::to_string(at % features + 1),
          NumberText(value), "a finite number of magnitude at most 1e+09 after division by the scale");
    }
    out[i] = static_cast<float>(value);
  }
}

template void ToFeatures(const DataSpec&, const std::filesystem::path&, std::size_t,
                         std::span<const std::uint8_t>, float*);
template void ToFeatures(const DataSpec&, const std::filesystem::path&, std::size_t, std::span<const double>,
                         float*);

}  // namespace trefoil::data

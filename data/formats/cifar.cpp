#include "data/formats/cifar.h"

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

constexpr int kTrainingFiles = 5;

std::string ReadRows(const fs::path& path) {
  auto bytes = ReadFile(path);
  if (bytes.size() % kCifarRowBytes != 0) {
    ThrowDataError(path, "", std::to_string(bytes.size()) + " bytes",
                   "rows of " + std::to_string(kCifarRowBytes) +
                       ": a class, then 1024 values each of red, green and blue");
  }
  return bytes;
}

}  // namespace

std::string_view CifarRows::Row(std::size_t row) const {
  Require(row < rows(), "CifarRows: a row that is there");
  return std::string_view(bytes).substr(row * kCifarRowBytes, kCifarRowBytes);
}

std::vector<std::uint8_t> CifarRows::Labels() const {
  std::vector<std::uint8_t> labels;
  labels.reserve(rows());
  for (std::size_t row = 0; row < rows(); ++row)
    labels.push_back(static_cast<std::uint8_t>(Row(row).front()));
  return labels;
}

std::array<std::uint8_t, kCifarValues> CifarRows::Pixels(std::size_t row) const {
  const auto planes = Row(row).substr(1);
  constexpr std::size_t kPlane = kCifarSide * kCifarSide;
  std::array<std::uint8_t, kCifarValues> pixels{};
  for (std::size_t i = 0; i < kCifarValues; ++i)
    pixels[i % kPlane * kCifarChannels + i / kPlane] = static_cast<std::uint8_t>(planes[i]);
  return pixels;
}

CifarRows ReadCifar(const fs::path& path) {
  if (!fs::is_directory(path)) return {ReadRows(path)};
  CifarRows all;
  for (int k = 1; k <= kTrainingFiles; ++k)
    all.bytes += ReadRows(path / ("data_batch_" + std::to_string(k) + ".bin"));
  return all;
}

}  // namespace trefoil::data

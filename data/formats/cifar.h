#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::data {

inline constexpr std::size_t kCifarSide = 32;
inline constexpr std::size_t kCifarChannels = 3;
inline constexpr std::size_t kCifarValues = kCifarChannels * kCifarSide * kCifarSide;
inline constexpr std::size_t kCifarRowBytes = 1 + kCifarValues;

/// The first of CIFAR-10's own five training files. Where it is found, ReadCifar() is given the folder.
inline constexpr const char* kFirstCifarFile = "data_batch_1.bin";

/// Rows of CIFAR-10's binary files as they lie there: of each image its class in a byte, then its red, its
/// green and its blue values, each plane row by row.
struct CifarRows {
  std::string bytes;

  [[nodiscard]] std::size_t rows() const { return bytes.size() / kCifarRowBytes; }
  /// The bytes of one row. Pre: row < rows(), as below.
  [[nodiscard]] std::string_view Row(std::size_t row) const;
  [[nodiscard]] std::vector<std::uint8_t> Labels() const;
  /// The values of one image, the three of a pixel side by side.
  [[nodiscard]] std::array<std::uint8_t, kCifarValues> Pixels(std::size_t row) const;
};

/// Reads such a file, plain or packed with gzip; or a folder, which stands for data_batch_1.bin to
/// data_batch_5.bin in it, CIFAR-10's training images, one after the other. Throws DataError as ReadFile(),
/// and unless a file holds whole rows. Source: A. Krizhevsky: Learning multiple layers of features from tiny
/// images (2009), the data set's binary version.
[[nodiscard]] CifarRows ReadCifar(const std::filesystem::path& path);

}  // namespace trefoil::data

#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "data/formats/bounded_content.h"

namespace trefoil::data {

/// An IDX array of unsigned bytes, row-major: images as n x p, n x height x width or
/// n x height x width x channels, labels as n.
struct IdxArray {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> values;

  [[nodiscard]] std::size_t rows() const { return shape.front(); }
  /// Values in one row: the product of all dimensions but the first.
  [[nodiscard]] std::size_t row_size() const;
};

/// The head of an IDX file; `length` is where its values begin.
struct IdxHeader {
  std::vector<std::size_t> shape;
  std::size_t length = 0;
};

/// No head is longer.
inline constexpr std::size_t kMaxIdxHead = 20;

/// Reads the head that `content` begins with, of a file (unpacked) of `size` bytes. Throws DataError as
/// ReadIdx. Pre: `content` is the whole file, or at least its first kMaxIdxHead bytes.
[[nodiscard]] IdxHeader ParseIdxHeader(std::string_view content, std::size_t size,
                                       const std::filesystem::path& path);

/// Reads an IDX file, plain or packed with gzip (told apart by content).
/// Throws DataError unless it holds unsigned bytes in one to four dimensions, exactly as many as its header
/// says. Source: the file format of the MNIST database (Y. LeCun, C. Cortes, C. Burges).
/// `check`, if there is one, sees the shape before the values are read.
[[nodiscard]] IdxArray ReadIdx(const std::filesystem::path& path, const ShapeCheck& check = {});

/// Writes an IDX file, packed with gzip if the name ends in ".gz"; equal arrays give equal bytes.
/// Pre: one to four dimensions below 2^32, whose product is the number of values.
void WriteIdx(const std::filesystem::path& path, const IdxArray& array);

}  // namespace trefoil::data

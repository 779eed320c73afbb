#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/bounded_content.h"
#include "data/formats/numpy/npy_header.h"
#include "data/formats/positioned_file.h"

namespace trefoil::data {

/// A NumPy array as stored: element type, shape, and its elements' bytes in row-major (C) order.
struct NpyArray {
  std::string descr;               ///< NumPy's type string: "<f8", "<i8", "|u1", "|S12", ...
  std::vector<std::size_t> shape;  ///< empty: one element
  std::string bytes;

  /// Number of elements.
  [[nodiscard]] std::size_t size() const;
  /// Bytes of one element.
  [[nodiscard]] std::size_t item_size() const;
};

/// Reads the content of an NPY file of format version 1, 2 or 3: element types f4, f8, i1...i8, u1...u8, b1
/// (little-endian) and byte strings, C or Fortran order. Nothing is ever unpickled. `place` names the file
/// (and array) in errors. Memory: `content` once, in Fortran order twice. Throws DataError for any other
/// type, a malformed header, or more or fewer bytes than the header says. Source: NumPy Enhancement Proposal
/// 1 and numpy.lib.format.
[[nodiscard]] NpyArray ParseNpy(std::string content, const std::filesystem::path& place);
/// `check`, if there is one, sees the shape before the elements are read.
[[nodiscard]] NpyArray ReadNpy(const std::filesystem::path& path, const ShapeCheck& check = {});

/// The head of an NPY file whose elements are to be read by position. Nothing where gzip has packed it.
/// Throws DataError as ReadNpy.
[[nodiscard]] std::optional<NpyHeader> ReadNpyHeader(const PositionedFile& file);

/// What the head of an NPY file announces of the whole, `place`, once `check` has seen its shape.
[[nodiscard]] AnnouncedSize NpySize(std::filesystem::path place, ShapeCheck check);

/// An NPY file of format version 1; equal arrays give equal bytes.
[[nodiscard]] std::string FormatNpy(const NpyArray& array);
void WriteNpy(const std::filesystem::path& path, const NpyArray& array);

/// Makers of arrays. Pre: the shape's product is the number of values.
[[nodiscard]] NpyArray NpyFromDoubles(std::vector<std::size_t> shape, std::span<const double> values);
[[nodiscard]] NpyArray NpyFromIntegers(std::vector<std::size_t> shape, std::span<const std::int64_t> values);
/// A scalar byte string ("|Sn"); in NumPy `array.item()` is its bytes. NumPy drops trailing zero bytes.
[[nodiscard]] NpyArray NpyFromText(std::string_view utf8);

/// All elements as double, booleans as 0 and 1; integers beyond 2^53 are rounded. Throws DataError (naming
/// `place`) if the elements are strings.
[[nodiscard]] std::vector<double> NpyToDoubles(const NpyArray& array, const std::filesystem::path& place);
/// The same of the elements of type `descr` in `bytes`.
[[nodiscard]] std::vector<double> NpyToDoubles(std::string_view descr, std::string_view bytes,
                                               const std::filesystem::path& place);
/// The text of a scalar byte string. Throws DataError if it is anything else.
[[nodiscard]] std::string NpyToText(const NpyArray& array, const std::filesystem::path& place);

}  // namespace trefoil::data

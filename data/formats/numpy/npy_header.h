#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::data {

/// The head of an NPY file; `length` is where its elements begin.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t length = 0;
};

/// Where the elements begin, by the magic and the version at the beginning of `content`, which need not hold
/// the dictionary. Throws DataError as ParseNpyHeader, and beyond BoundedContent::kMaxHead.
[[nodiscard]] std::size_t NpyHeaderLength(std::string_view content, const std::filesystem::path& place);

/// Reads magic, version and the dictionary with exactly the keys descr, fortran_order and shape. Never reads
/// beyond `content`. Throws DataError naming `place` for anything else. Source: numpy.lib.format.
[[nodiscard]] NpyHeader ParseNpyHeader(std::string_view content, const std::filesystem::path& place);

/// A header of format version 1 in C order, padded to a multiple of 64 bytes as NumPy does.
[[nodiscard]] std::string FormatNpyHeader(std::string_view descr, const std::vector<std::size_t>& shape);

/// Bytes of one element of a type that we read, else nothing.
[[nodiscard]] std::optional<std::size_t> NpyItemSize(std::string_view descr);

/// No array that a header announces is larger.
inline constexpr std::size_t kMaxArrayBytes = std::size_t{1} << 48;

/// Elements in `shape`, or nothing if they need more than `most` bytes. A zero anywhere makes it zero.
[[nodiscard]] std::optional<std::size_t> CountElements(const std::vector<std::size_t>& shape,
                                                       std::size_t item, std::size_t most);

/// "(3, 4)", "(3,)" or "()".
[[nodiscard]] std::string ShapeText(const std::vector<std::size_t>& shape);

}  // namespace trefoil::data

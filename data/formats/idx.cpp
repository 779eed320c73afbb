#include "data/formats/idx.h"

#include <limits>
#include <numeric>
#include <string>

#include "base/error.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy_header.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kMaxIdxDimensions = 4;
static_assert(kMaxIdxHead == kMagicBytes + 4 * kMaxIdxDimensions);
constexpr std::uint8_t kUnsignedByte = 0x08;

std::uint8_t HeadByte(std::string_view content, std::size_t i) {
  return static_cast<std::uint8_t>(content[i]);
}

std::size_t BigEndianAt(std::string_view content, std::size_t i) {
  std::size_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | HeadByte(content, i + k);
  return value;
}

std::size_t Product(std::vector<std::size_t>::const_iterator begin,
                    std::vector<std::size_t>::const_iterator end) {
  return std::accumulate(begin, end, std::size_t{1}, std::multiplies<>());
}

/// True if the product of `shape` is `count`, without overflow on the way.
bool HasCount(const std::vector<std::size_t>& shape, std::size_t count) {
  return CountElements(shape, 1, std::numeric_limits<std::size_t>::max()) == count;
}

/// "10 x 28 x 28".
std::string Times(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const auto dimension : shape) text += (text.empty() ? "" : " x ") + std::to_string(dimension);
  return text;
}

/// The head that `content` begins with, whatever follows.
IdxHeader ParseHead(std::string_view content, const std::filesystem::path& path) {
  if (content.size() < kMagicBytes || HeadByte(content, 0) != 0 || HeadByte(content, 1) != 0) {
    ThrowDataError(path, "header", "other bytes", "the magic number of an IDX file");
  }
  if (HeadByte(content, 2) != kUnsignedByte) {
    ThrowDataError(path, "header", "type code " + std::to_string(HeadByte(content, 2)), "8 (unsigned bytes)");
  }
  const std::size_t dimensions = HeadByte(content, 3);
  if (dimensions < 1 || dimensions > kMaxIdxDimensions) {
    ThrowDataError(path, "header", std::to_string(dimensions) + " dimensions", "one to four");
  }
  IdxHeader header{.shape = {}, .length = kMagicBytes + 4 * dimensions};
  if (content.size() < header.length)
    ThrowDataError(path, "header", "a cut file", std::to_string(header.length) + " bytes");
  for (std::size_t k = 0; k < dimensions; ++k)
    header.shape.push_back(BigEndianAt(content, kMagicBytes + 4 * k));
  return header;
}

}  // namespace

std::size_t IdxArray::row_size() const { return Product(shape.begin() + 1, shape.end()); }

IdxHeader ParseIdxHeader(std::string_view content, std::size_t size, const std::filesystem::path& path) {
  IdxHeader header = ParseHead(content, path);
  if (!HasCount(header.shape, size - header.length)) {
    ThrowDataError(path, "values", std::to_string(size - header.length) + " bytes",
                   Times(header.shape) + " as its header says");
  }
  return header;
}

IdxArray ReadIdx(const std::filesystem::path& path, const ShapeCheck& check) {
  const std::string content = ReadFile(path, [&](std::string_view head) -> std::optional<std::uint64_t> {
    if (head.size() < kMaxIdxHead) return std::nullopt;  // a shorter file is its parser's to judge
    const IdxHeader header = ParseHead(head, path);
    if (check) check(header.shape, 1);
    const auto values = CountElements(header.shape, 1, kMaxArrayBytes);
    if (!values) ThrowDataError(path, "header", Times(header.shape) + " values", "at most 2^48");
    return header.length + *values;
  });
  IdxHeader header = ParseIdxHeader(content, content.size(), path);
  if (check) check(header.shape, 1);
  return {std::move(header.shape),
          {content.begin() + static_cast<std::ptrdiff_t>(header.length), content.end()}};
}

void WriteIdx(const std::filesystem::path& path, const IdxArray& array) {
  Require(!array.shape.empty() && array.shape.size() <= kMaxIdxDimensions,
          "WriteIdx: one to four dimensions");
  Require(HasCount(array.shape, array.values.size()), "WriteIdx: as many values as the shape says");
  std::string content{0, 0, static_cast<char>(kUnsignedByte), static_cast<char>(array.shape.size())};
  for (const auto size : array.shape) {
    Require(size <= std::numeric_limits<std::uint32_t>::max(), "WriteIdx: dimensions below 2^32");
    for (const int shift : {24, 16, 8, 0}) content += static_cast<char>(size >> shift & 0xFFU);
  }
  content.append(array.values.begin(), array.values.end());
  WriteFile(path, content);
}

}  // namespace trefoil::data

#include "data/formats/numpy/npy.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY elements are copied as they are");

/// Copies elements from column-major to row-major order: odometer over the output's index.
std::string FromFortranOrder(const std::vector<std::size_t>& shape, std::size_t item,
                             std::string_view bytes) {
  std::vector<std::size_t> stride(shape.size());
  std::size_t step = item;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    stride[k] = step;
    step *= shape[k];
  }
  std::string out(bytes.size(), '\0');
  std::vector<std::size_t> index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += item) {
    std::memcpy(out.data() + to, bytes.data() + from, item);
    for (std::size_t k = shape.size(); k-- > 0;) {
      from += stride[k];
      if (++index[k] < shape[k]) break;
      from -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

template <typename T>
std::vector<double> Convert(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

template <typename T>
NpyArray FromValues(const char* descr, std::vector<std::size_t> shape, std::span<const T> values) {
  NpyArray array{descr, std::move(shape), std::string(values.size_bytes(), '\0')};
  Require(array.size() == values.size(), "NpyArray: as many values as the shape says");
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
  return array;
}

std::size_t ItemSizeOf(const NpyHeader& header, const std::filesystem::path& place) {
  const auto item = NpyItemSize(header.descr);
  if (!item) {
    ThrowDataError(place, "header", "element type " + Quote(header.descr),
                   "little-endian f4, f8, i1 to i8, u1 to u8, b1, or a byte string");
  }
  return *item;
}

constexpr std::size_t kLongestPrefix = 12;  // magic, version and the header's length

/// The head of a file of `size` bytes that begins with `content`.
NpyHeader CheckedHeader(std::string_view content, std::size_t size, const std::filesystem::path& place) {
  NpyHeader header = ParseNpyHeader(content, place);
  const auto item = ItemSizeOf(header, place);
  const std::size_t body = size - header.length;
  const auto count = CountElements(header.shape, item, body);
  if (!count || *count * item != body) {
    ThrowDataError(place, "values", std::to_string(body) + " bytes",
                   "shape " + ShapeText(header.shape) + " of type " + header.descr + " as its header says");
  }
  return header;
}

}  // namespace

std::size_t NpyArray::size() const {
  std::size_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

std::size_t NpyArray::item_size() const { return NpyItemSize(descr).value_or(0); }

NpyArray ParseNpy(std::string content, const std::filesystem::path& place) {
  NpyHeader header = CheckedHeader(content, content.size(), place);
  content.erase(0, header.length);
  if (header.fortran_order && header.shape.size() > 1)
    content = FromFortranOrder(header.shape, *NpyItemSize(header.descr), content);
  return {std::move(header.descr), std::move(header.shape), std::move(content)};
}

std::optional<NpyHeader> ReadNpyHeader(const PositionedFile& file) {
  const auto prefix = file.Head(kLongestPrefix);
  if (IsGzip(prefix)) return std::nullopt;
  return CheckedHeader(file.Head(NpyHeaderLength(prefix, file.path())), file.size(), file.path());
}

AnnouncedSize NpySize(std::filesystem::path place, ShapeCheck check) {
  return [place = std::move(place),
          check = std::move(check)](std::string_view head) -> std::optional<std::uint64_t> {
    if (head.size() < kLongestPrefix) return std::nullopt;
    const auto length = NpyHeaderLength(head, place);
    if (head.size() < length) return std::nullopt;
    const NpyHeader header = ParseNpyHeader(head, place);
    const auto item = ItemSizeOf(header, place);
    if (check) check(header.shape, item);
    const auto count = CountElements(header.shape, item, kMaxArrayBytes);
    if (!count)
      ThrowDataError(place, "header", "shape " + ShapeText(header.shape), "an array of at most 2^48 bytes");
    return header.length + *count * item;
  };
}

NpyArray ReadNpy(const std::filesystem::path& path, const ShapeCheck& check) {
  return ParseNpy(ReadFile(path, NpySize(path, check)), path);
}

std::string FormatNpy(const NpyArray& array) {
  Require(array.item_size() > 0, "FormatNpy: a known element type");
  Require(array.size() * array.item_size() == array.bytes.size(),
          "FormatNpy: as many bytes as the shape says");
  return FormatNpyHeader(array.descr, array.shape) + array.bytes;
}

void WriteNpy(const std::filesystem::path& path, const NpyArray& array) { WriteFile(path, FormatNpy(array)); }

NpyArray NpyFromDoubles(std::vector<std::size_t> shape, std::span<const double> values) {
  return FromValues("<f8", std::move(shape), values);
}

NpyArray NpyFromIntegers(std::vector<std::size_t> shape, std::span<const std::int64_t> values) {
  return FromValues("<i8", std::move(shape), values);
}

NpyArray NpyFromText(std::string_view utf8) {
  if (utf8.empty()) return {"|S1", {}, std::string(1, '\0')};
  return {"|S" + std::to_string(utf8.size()), {}, std::string(utf8)};
}

std::vector<double> NpyToDoubles(const NpyArray& array, const std::filesystem::path& place) {
  return NpyToDoubles(array.descr, array.bytes, place);
}

std::vector<double> NpyToDoubles(std::string_view descr, std::string_view bytes,
                                 const std::filesystem::path& place) {
  const std::string_view type = descr.substr(1);
  if (type == "f8") return Convert<double>(bytes);
  if (type == "f4") return Convert<float>(bytes);
  if (type == "i8") return Convert<std::int64_t>(bytes);
  if (type == "i4") return Convert<std::int32_t>(bytes);
  if (type == "i2") return Convert<std::int16_t>(bytes);
  if (type == "i1") return Convert<std::int8_t>(bytes);
  if (type == "u8") return Convert<std::uint64_t>(bytes);
  if (type == "u4") return Convert<std::uint32_t>(bytes);
  if (type == "u2") return Convert<std::uint16_t>(bytes);
  if (type == "u1") return Convert<std::uint8_t>(bytes);
  if (type != "b1") ThrowDataError(place, "", "elements of type " + Quote(descr), "numbers");
  auto values = Convert<std::uint8_t>(bytes);
  for (auto& value : values) value = value != 0 ? 1 : 0;
  return values;
}

std::string NpyToText(const NpyArray& array, const std::filesystem::path& place) {
  if (!array.descr.starts_with("|S") || !array.shape.empty()) {
    ThrowDataError(place, "", "shape " + ShapeText(array.shape) + " of type " + Quote(array.descr),
                   "one byte string");
  }
  return array.bytes.substr(0, array.bytes.find_last_not_of('\0') + 1);
}

}  // namespace trefoil::data

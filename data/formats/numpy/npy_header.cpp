#include "data/formats/numpy/npy_header.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/error.h"
#include "data/formats/bounded_content.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxNpyDimensions = 32;  // NumPy's own limit

/// Reads the dictionary of a header, a literal of Python's syntax, strictly left to right.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::filesystem::path& place) : text_(text), place_(place) {}

  NpyHeader Parse() {
    NpyHeader header;
    std::array<bool, 3> seen{};
    Take('{');
    while (Peek() != '}') {
      const std::string key = TakeString();
      Take(':');
      if (key == "descr" && !std::exchange(seen[0], true)) {
        header.descr = TakeString();
      } else if (key == "fortran_order" && !std::exchange(seen[1], true)) {
        header.fortran_order = TakeBool();
      } else if (key == "shape" && !std::exchange(seen[2], true)) {
        header.shape = TakeShape();
      } else {
        Fail("key " + Quote(key));
      }
      if (Peek() != '}') Take(',');
    }
    Take('}');
    if (Peek() != '\0') Fail("text after the dictionary");
    if (!seen[0] || !seen[1] || !seen[2]) Fail("a missing key");
    return header;
  }

 private:
  [[noreturn]] void Fail(const std::string& found) const {
    ThrowDataError(place_, "header", found, "{'descr': TYPE, 'fortran_order': BOOL, 'shape': TUPLE}");
  }

  /// The next character that is no blank, '\0' at the end.
  char Peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  void Take(char expected) {
    if (Peek() != expected || position_ >= text_.size())
      Fail("no '" + std::string(1, expected) + "' in its place");
    ++position_;
  }

  std::string TakeString() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"')
      Fail("something else than a string (only plain element types are read)");
    const auto end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) Fail("a string without an end");
    std::string value(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return value;
  }

  bool TakeBool() {
    Peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return word == "True";
      }
    }
    Fail("neither True nor False");
  }

  std::vector<std::size_t> TakeShape() {
    std::vector<std::size_t> shape;
    Take('(');
    while (Peek() != ')') {
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), size);
      if (error != std::errc() || shape.size() == kMaxNpyDimensions) Fail("a shape that cannot be read");
      position_ = static_cast<std::size_t>(end - text_.data());
      shape.push_back(size);
      if (Peek() != ')') Take(',');
    }
    Take(')');
    return shape;
  }

  std::string_view text_;
  const std::filesystem::path& place_;
  std::size_t position_ = 0;
};

/// Where the parts of a file lie, in bytes from its beginning.
struct ArrayLayout {
  std::size_t dictionary = 0;
  std::size_t elements = 0;
};

ArrayLayout LayoutOf(std::string_view content, const std::filesystem::path& place) {
  if (!content.starts_with(kMagic))
    ThrowDataError(place, "header", "other bytes", "the magic string of an NPY file");
  content.remove_prefix(kMagic.size());
  const int version = content.empty() ? 0 : content[0];
  if (version < 1 || version > 3) {
    ThrowDataError(place, "header", "format version " + std::to_string(version), "1, 2 or 3");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t prefix = 2 + length_bytes;
  if (content.size() < prefix) ThrowDataError(place, "header", "a cut file", "the header's length");
  std::size_t length = 0;
  for (std::size_t k = 0; k < length_bytes; ++k) {
    length |= std::size_t{static_cast<unsigned char>(content[2 + k])} << (8 * k);
  }
  const std::size_t dictionary = kMagic.size() + prefix;
  return {.dictionary = dictionary, .elements = dictionary + length};
}

}  // namespace

std::optional<std::size_t> CountElements(const std::vector<std::size_t>& shape, std::size_t item,
                                         std::size_t most) {
  std::size_t count = 1;
  for (const auto size : shape) {
    if (size == 0) return 0;
  }
  for (const auto size : shape) {
    if (count * item > most / size) return std::nullopt;
    count *= size;
  }
  return count;
}

std::size_t NpyHeaderLength(std::string_view content, const std::filesystem::path& place) {
  const auto length = LayoutOf(content, place).elements;
  if (length > BoundedContent::kMaxHead)
    ThrowDataError(place, "header", std::to_string(length) + " bytes", "at most a mebibyte");
  return length;
}

NpyHeader ParseNpyHeader(std::string_view content, const std::filesystem::path& place) {
  const auto [begin, end] = LayoutOf(content, place);
  if (end > content.size()) {
    ThrowDataError(place, "header", "a cut file", std::to_string(end - begin) + " bytes of header");
  }
  NpyHeader header = DictionaryParser(content.substr(begin, end - begin), place).Parse();
  header.length = end;
  return header;
}

std::string FormatNpyHeader(std::string_view descr, const std::vector<std::size_t>& shape) {
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + ShapeText(shape) + ", }";
  constexpr std::size_t kPrefix = kMagic.size() + 4;
  constexpr std::size_t kAlignment = 64;
  while ((kPrefix + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  Require(text.size() <= std::numeric_limits<std::uint16_t>::max(), "FormatNpyHeader: at most 65,535 bytes");
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU), static_cast<char>(text.size() >> 8)};
  return header + text;
}

std::optional<std::size_t> NpyItemSize(std::string_view descr) {
  for (const std::string_view known :
       {"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"}) {
    // NumPy writes '|' where the byte order does not matter; other writers put '<' there.
    const bool single =
        known[2] == '1' && descr.size() == 3 && descr[0] == '<' && descr.substr(1) == known.substr(1);
    if (descr == known || single) return static_cast<std::size_t>(known[2] - '0');
  }
  if (!descr.starts_with("|S")) return std::nullopt;
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), length);
  const bool whole = error == std::errc() && end == descr.data() + descr.size();
  if (!whole || length == 0 || length > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return length;
}

std::string ShapeText(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace trefoil::data

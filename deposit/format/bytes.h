#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trefoil::deposit {

/// The bytes as text, which hashes and files take.
[[nodiscard]] inline std::string_view TextOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The text as bytes.
[[nodiscard]] inline std::span<const std::uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Writes a number into all of `out`, the least significant byte first; what does not fit is left out.
inline void PutNumber(std::span<std::uint8_t> out, std::uint64_t number) {
  for (auto& byte : out) {
    byte = static_cast<std::uint8_t>(number);
    number >>= 8;
  }
}

/// The number that these bytes hold. Pre: eight at most.
[[nodiscard]] inline std::uint64_t TakeNumber(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (std::size_t k = bytes.size(); k-- > 0;) number = number << 8 | bytes[k];
  return number;
}

/// Appends fields of fixed length to a text.
class FieldWriter {
 public:
  void Number(std::uint64_t number, std::size_t bytes) {
    std::array<std::uint8_t, 8> out{};
    PutNumber(std::span(out).first(bytes), number);
    Bytes(std::span(out).first(bytes));
  }
  void Bytes(std::span<const std::uint8_t> bytes) { text_.append(TextOf(bytes)); }
  /// A text, with zero bytes behind it. Pre: it is not longer.
  void Padded(std::string_view text, std::size_t bytes) {
    Require(text.size() <= bytes, "FieldWriter: a text that fits");
    text_.append(text).append(bytes - text.size(), '\0');
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Takes them again, without copies. Pre of each function: so many bytes are left.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  [[nodiscard]] std::span<const std::uint8_t> Bytes(std::size_t count) {
    Require(count <= rest_.size(), "FieldReader: bytes that are there");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  [[nodiscard]] std::uint64_t Number(std::size_t bytes) { return TakeNumber(Bytes(bytes)); }
  template <std::size_t N>
  [[nodiscard]] std::array<std::uint8_t, N> Array() {
    std::array<std::uint8_t, N> array{};
    const auto taken = Bytes(N);
    std::copy(taken.begin(), taken.end(), array.begin());
    return array;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace trefoil::deposit

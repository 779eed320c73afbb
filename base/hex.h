#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace trefoil {

/// Two lower-case hexadecimal digits a byte.
[[nodiscard]] inline std::string ToHex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0xF]);
  }
  return text;
}

}  // namespace trefoil

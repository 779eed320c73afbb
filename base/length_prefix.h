#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trefoil {

/// A length as it stands before a text: eight bytes, the least significant first.
inline constexpr std::size_t kLengthBytes = 8;

/// The text behind its length.
[[nodiscard]] std::string WithLength(std::string_view text);

/// The length that `bytes` begins with. Pre: kLengthBytes bytes or more.
[[nodiscard]] std::uint64_t LengthIn(std::string_view bytes);

}  // namespace trefoil

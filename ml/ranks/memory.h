#pragma once
#include <cstddef>
#include <span>

namespace trefoil::ml {

/// The bytes of numbers that lie one behind the other, as ranks exchange them.
template <typename Numbers>
[[nodiscard]] std::span<std::byte> Memory(Numbers& numbers) {
  return std::as_writable_bytes(std::span(numbers.data(), static_cast<std::size_t>(numbers.size())));
}

}  // namespace trefoil::ml

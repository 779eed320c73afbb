#pragma once
#include <cstddef>
#include <span>

namespace trefoil::ml {

/// Numbers that lie one behind the other, as ranks exchange them.
template <typename Numbers>
[[nodiscard]] auto Elements(Numbers& numbers) {
  return std::span(numbers.data(), static_cast<std::size_t>(numbers.size()));
}

/// Their bytes.
template <typename Numbers>
[[nodiscard]] std::span<std::byte> Memory(Numbers& numbers) {
  return std::as_writable_bytes(Elements(numbers));
}

}  // namespace trefoil::ml

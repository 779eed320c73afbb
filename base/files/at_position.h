#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trefoil {

/// Reads bytes of an open file from a position on, over signals. How many: fewer than asked for where the
/// file ends, when errno is 0, or where the system refuses, when errno says why.
[[nodiscard]] std::size_t ReadAt(int descriptor, std::uint64_t position, std::span<std::uint8_t> bytes);

/// Writes bytes from a position on, over signals. False, with errno, where not all could be written.
[[nodiscard]] bool WriteAt(int descriptor, std::uint64_t position, std::span<const std::uint8_t> bytes);

}  // namespace trefoil

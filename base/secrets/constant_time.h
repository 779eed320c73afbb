#pragma once
#include <cstdint>

namespace trefoil {

/// All ones if the lowest bit of `bit` is set, else zero; in a time that does not depend on it. The compiler
/// takes the result for any word, so that it makes no branch of what is selected by it.
[[nodiscard]] inline std::uint64_t MaskOf(std::uint64_t bit) {
  std::uint64_t mask = std::uint64_t{0} - (bit & 1);
  asm("" : "+r"(mask));  // NOLINT(hicpp-no-assembler): no instruction, but the compiler cannot see through it
  return mask;
}

/// `yes` where the mask is all ones, `no` where it is zero.
[[nodiscard]] inline std::uint64_t Select(std::uint64_t mask, std::uint64_t yes, std::uint64_t no) {
  return no ^ (mask & (yes ^ no));
}

/// 1 if the words are equal, else 0; in a time that does not depend on them. Pre: both below 2^63.
[[nodiscard]] inline std::uint64_t IsEqual(std::uint64_t a, std::uint64_t b) { return ((a ^ b) - 1) >> 63; }

}  // namespace trefoil

#pragma once
#include <bit>
#include <cstdint>

#include <boost/multiprecision/cpp_int.hpp>

#include "base/secrets/random.h"

/// Exact coins: integer arithmetic only between the random words and the outcome, uniform integers by
/// rejection. Int is std::uint64_t, Uint128 or Uint256; all draw the same words for the same numbers, hence
/// give the same outcome. Source: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy"
/// (2020), section 5.
namespace trefoil::dp {

using Uint128 = unsigned __int128;
using Uint256 = boost::multiprecision::uint256_t;

/// The number of bits of `value`; 0 for 0.
[[nodiscard]] inline unsigned BitWidth(std::uint64_t value) {
  return static_cast<unsigned>(std::bit_width(value));
}
[[nodiscard]] inline unsigned BitWidth(Uint128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? 64 + BitWidth(high) : BitWidth(static_cast<std::uint64_t>(value));
}
[[nodiscard]] inline unsigned BitWidth(const Uint256& value) { return value == 0 ? 0U : 1U + msb(value); }

/// Uniform on {0, ..., 2^bits - 1}, bits at most the width of Int.
template <typename Int>
[[nodiscard]] Int RandomBits(RandomStream& stream, unsigned bits) {
  Int value{0};
  while (bits >= 64) {
    bits -= 64;
    value = static_cast<Int>((value << 32 << 32) | Int{stream.NextWord()});
  }
  if (bits > 0) value = static_cast<Int>((value << bits) | Int{stream.NextWord() >> (64 - bits)});
  return value;
}

/// Uniform on {0, ..., bound - 1}. Pre: bound >= 1.
template <typename Int>
[[nodiscard]] Int UniformBelow(RandomStream& stream, const Int& bound) {
  const unsigned bits = BitWidth(static_cast<Int>(bound - 1));
  for (;;) {
    Int value = RandomBits<Int>(stream, bits);
    if (value < bound) return value;
  }
}

/// True with probability exp(-1).
[[nodiscard]] inline bool BernoulliExpMinusOne(RandomStream& stream) {
  std::uint64_t k = 1;
  while (UniformBelow(stream, k) == 0) ++k;
  return k % 2 == 1;
}

/// True with probability exp(-numerator / denominator). Pre: numerator >= 0, denominator >= 1. Not
/// constant-time.
template <typename Int>
[[nodiscard]] bool BernoulliExp(RandomStream& stream, Int numerator, const Int& denominator) {
  while (numerator >= denominator) {
    if (!BernoulliExpMinusOne(stream)) return false;
    numerator -= denominator;
  }
  // The coin of probability (numerator / denominator) / k is the conjunction of two.
  std::uint64_t k = 1;
  while (UniformBelow(stream, denominator) < numerator && UniformBelow(stream, k) == 0) ++k;
  return k % 2 == 1;
}

}  // namespace trefoil::dp

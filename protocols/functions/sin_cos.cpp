#include "protocols/functions/sin_cos.h"

#include <array>

namespace trefoil::protocols {
namespace {

constexpr int kIndexBits = 12;
constexpr std::size_t kEntries = std::size_t{1} << kIndexBits;
constexpr int kScaleBits = 30;
constexpr int kTaylorBits = 50;
constexpr std::int64_t kTwoPi = 7074237752028440;  // 2 pi * 2^50, rounded

/// Half of SinCos's width, so that both tables stay in the first cache.
struct SineEntry {
  std::int32_t sin = 0;
  std::int32_t cos = 0;
};
using Table = std::array<SineEntry, kEntries>;

template <typename Integer>
Integer Rounded(__int128 value, int bits) {
  return static_cast<Integer>((value + (__int128{1} << (bits - 1))) >> bits);
}

/// The Taylor series at `angle` (radians * 2^50, below 2 pi): the terms stay below 2^60.
SineEntry Taylor(std::int64_t angle) {
  __int128 term = __int128{1} << kTaylorBits;
  __int128 sums[2] = {term, 0};  // even powers: cosine; odd powers: sine
  for (int n = 1; n <= 48; ++n) {
    term = term * angle / (__int128{n} << kTaylorBits);
    sums[n % 2] += (n / 2) % 2 == 0 ? term : -term;
  }
  return {.sin = Rounded<std::int32_t>(sums[1], kTaylorBits - kScaleBits),
          .cos = Rounded<std::int32_t>(sums[0], kTaylorBits - kScaleBits)};
}

/// Entry i is the angle of i / 2^index_bits of a turn, `shift` further halvings applied.
Table MakeTable(int shift) {
  Table table;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const __int128 angle = static_cast<__int128>(kTwoPi) * static_cast<__int128>(i);
    table[i] = Taylor(Rounded<std::int64_t>(angle, kIndexBits + shift));
  }
  return table;
}

}  // namespace

SinCos SinCosOfTurn(mpc::Word turn) {
  static const Table kCoarse = MakeTable(0);
  static const Table kFine = MakeTable(kIndexBits);
  // Rounded to the nearest of 2^24 angles, so that the error has no sign.
  const mpc::Word rounded = turn + (mpc::Word{1} << (63 - 2 * kIndexBits));
  const SineEntry& coarse = kCoarse[rounded >> (64 - kIndexBits)];
  const SineEntry& fine = kFine[(rounded >> (64 - 2 * kIndexBits)) & (kEntries - 1)];
  const SinCos a{.sin = coarse.sin, .cos = coarse.cos};
  const SinCos b{.sin = fine.sin, .cos = fine.cos};
  return {.sin = (a.sin * b.cos + a.cos * b.sin) >> kScaleBits,
          .cos = (a.cos * b.cos - a.sin * b.sin) >> kScaleBits};
}

}  // namespace trefoil::protocols

#pragma once
#include <array>
#include <span>

#include "mpc/ring.h"

namespace trefoil::mpc {

/// A 128-bit block, in memory order: the low word first.
struct Block {
  Word low = 0;
  Word high = 0;
};

/// The first 16 bytes of pi's binary fraction: a key that nobody chose.
constexpr std::array<unsigned char, 16> kFixedKey = {0x24, 0x3F, 0x6A, 0x88, 0x85, 0xA3, 0x08, 0xD3,
                                                     0x13, 0x19, 0x8A, 0x2E, 0x03, 0x70, 0x73, 0x44};

/// AES_k(s) ^ s for each block, under kFixedKey: the Matyas-Meyer-Oseas mode, taken to be a random function
/// (ideal cipher). Thread-safe. All instruction sets give the same result; the best one that the processor
/// has is taken. Pre: as much room in `out`, which must not overlap `in`.
void FixedKeyHash(std::span<const Block> in, std::span<Block> out);

/// The same by OpenSSL, whatever the processor has.
void FixedKeyHashByLibrary(std::span<const Block> in, std::span<Block> out);

}  // namespace trefoil::mpc

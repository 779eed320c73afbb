#pragma once
#include <span>

#include "mpc/dcf.h"

namespace trefoil::mpc {

/// AES_k(s) ^ s for each block, under one fixed key (the start of pi's binary fraction): the
/// Matyas-Meyer-Oseas mode, taken to be a random function (ideal cipher). Thread-safe. Pre: as much room in
/// `out`, which must not overlap `in`.
void FixedKeyHash(std::span<const Block> in, std::span<Block> out);

}  // namespace trefoil::mpc

#pragma once
#include <cstdint>

namespace trefoil::bench {

/// Multiplies and adds 64-bit words in registers, `count` times or a few more: the limit of products on this
/// processor, one core. Returns how many it made.
std::int64_t RunMultiplier(std::int64_t count);

}  // namespace trefoil::bench

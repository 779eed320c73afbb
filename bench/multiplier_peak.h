#pragma once
#include <cstdint>

namespace trefoil::bench {

/// Multiplies and adds 64-bit words in registers, `count` times or a few more, on one core: no product
/// of matrices can be faster. Returns how many multiplications it made.
std::int64_t RunMultiplier(std::int64_t count);

}  // namespace trefoil::bench

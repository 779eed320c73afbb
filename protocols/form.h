#pragma once

namespace trefoil::protocols {

/// Two ways to compare with the same result.
enum class Form {
  kBulk,     ///< carry tree on packed bits: little traffic an element, 7 rounds at 64 bits
  kLatency,  ///< one distributed comparison function key an element: 2 rounds, and much dealt material
};

}  // namespace trefoil::protocols

#pragma once

namespace trefoil::protocols {

/// How a truncation rounds.
enum class Rounding {
  kStochastic,  ///< up with the fraction's probability, by a coin whose threshold is published
  kExact,       ///< always down; nobody learns anything, for a comparison function key an element
};

}  // namespace trefoil::protocols

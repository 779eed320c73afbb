#pragma once
#include <limits>

namespace trefoil::dp {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace trefoil::dp

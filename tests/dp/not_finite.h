#pragma once
#include <limits>

namespace trefoil::dp {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace trefoil::dp

#pragma once
#include <limits>

#include "dp/accounting/infinity.h"

namespace trefoil::dp {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace trefoil::dp

#pragma once
#include <vector>

#include "mpc/share.h"

namespace trefoil::mpc {

/// The planes of `x` with the given numbers, in that order.
[[nodiscard]] BoolShare PickPlanes(const BoolShare& x, const std::vector<Index>& planes);

/// `x` with plane planes[k] replaced by plane k of `values`.
[[nodiscard]] BoolShare WithPlanes(const BoolShare& x, const std::vector<Index>& planes,
                                   const BoolShare& values);

}  // namespace trefoil::mpc

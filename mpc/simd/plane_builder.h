#pragma once
#include <vector>

#include "mpc/share.h"

namespace trefoil::mpc {

/// The planes of `x` with the given numbers, in that order.
[[nodiscard]] BoolShare PickPlanes(const BoolShare& x, const std::vector<Index>& planes);

/// `x` with plane planes[k] replaced by plane first + k of `values`.
[[nodiscard]] BoolShare WithPlanes(BoolShare x, const std::vector<Index>& planes, const BoolShare& values,
                                   Index first = 0);

/// `x` with plane first + k of `values` added (exclusive or) to plane planes[k].
[[nodiscard]] BoolShare WithPlanesAdded(BoolShare x, const std::vector<Index>& planes,
                                        const BoolShare& values, Index first = 0);

}  // namespace trefoil::mpc

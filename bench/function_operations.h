#pragma once
#include <vector>

#include "bench/operations.h"

namespace trefoil::bench {

/// Look-ups, maxima, and functions of numbers and rows.
[[nodiscard]] std::vector<Operation> FunctionOperations();

}  // namespace trefoil::bench

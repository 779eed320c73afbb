#pragma once
#include <vector>

#include "bench/operations.h"

namespace trefoil::bench {

/// Input and reveal, products, truncation, comparison and bits.
[[nodiscard]] std::vector<Operation> BasicOperations();

}  // namespace trefoil::bench

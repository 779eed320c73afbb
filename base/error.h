#pragma once
#include "include/trefoil/error.h"

namespace trefoil {

/// Throws ContractError with `what` unless `condition` holds.
void Require(bool condition, const char* what);

}  // namespace trefoil

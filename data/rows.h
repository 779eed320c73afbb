#pragma once
#include "data/table.h"

namespace trefoil::data {

/// Scales each row of greater L2 norm down to `bound`; others stay as they are. Computed in double;
/// afterwards the exact norm of every row is at most `bound`, in spite of the rounding to float (for a normal
/// float bound). Pre: bound is finite and positive, all entries are finite.
void ScaleRowsTo(Matrix& x, double bound);

}  // namespace trefoil::data

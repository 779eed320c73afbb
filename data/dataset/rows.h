#pragma once
#include <span>

#include "data/dataset/table.h"

namespace trefoil::data {

/// Scales each row of greater L2 norm down to `bound`; others stay as they are. Computed in double;
/// afterwards the exact norm of every row is at most `bound`, in spite of the rounding to float (for a normal
/// float bound). Pre: bound is finite and positive, all entries are finite.
void ScaleRowsTo(Matrix& x, double bound);

/// The same of one row.
void ScaleRowTo(std::span<float> row, double bound);

/// Scales each row, but for rows of zeros, up or down to the L2 norm `bound`: to at most that, and to more
/// than 1 - 2^-21 of it where its entries stay normal floats. Pre: as ScaleRowsTo().
void NormaliseRowsTo(Matrix& x, double bound);

}  // namespace trefoil::data

#include "data/rows.h"

#include <cmath>

#include "base/error.h"

namespace trefoil::data {
namespace {

/// Scales the rows whose norm is above `least` to `bound`.
void ScaleRowsAbove(Matrix& x, double least, double bound) {
  // Rounding an entry to float adds at most 2^-24 of it; twice that is taken off beforehand.
  const double margin = 1 - std::ldexp(1.0, -23);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double norm = x.row(i).cast<double>().norm();
    if (norm <= least) continue;
    const double factor = margin * bound / norm;
    for (Eigen::Index k = 0; k < x.cols(); ++k)
      x(i, k) = static_cast<float>(factor * static_cast<double>(x(i, k)));
  }
}

}  // namespace

void ScaleRowsTo(Matrix& x, double bound) {
  Require(std::isfinite(bound) && bound > 0, "ScaleRowsTo: a finite bound above 0");
  ScaleRowsAbove(x, bound, bound);
}

void NormaliseRowsTo(Matrix& x, double bound) {
  Require(std::isfinite(bound) && bound > 0, "NormaliseRowsTo: a finite bound above 0");
  ScaleRowsAbove(x, 0, bound);
}

}  // namespace trefoil::data

#include "data/dataset/rows.h"

#include <cmath>

#include "base/error.h"

namespace trefoil::data {
namespace {

/// Scales the row if its norm is above `least` to `bound`.
void ScaleRowAbove(std::span<float> row, double least, double bound) {
  // Rounding an entry to float adds at most 2^-24 of it; twice that is taken off beforehand.
  const double margin = 1 - std::ldexp(1.0, -23);
  const double norm = Eigen::Map<const Eigen::RowVectorXf>(row.data(), static_cast<Eigen::Index>(row.size()))
                          .cast<double>()
                          .norm();
  if (norm <= least) return;
  const double factor = margin * bound / norm;
  for (float& value : row) value = static_cast<float>(factor * static_cast<double>(value));
}

void ScaleRowsAbove(Matrix& x, double least, double bound) {
  const auto columns = static_cast<std::size_t>(x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i) ScaleRowAbove({x.data() + i * x.cols(), columns}, least, bound);
}

}  // namespace

void ScaleRowTo(std::span<float> row, double bound) {
  Require(std::isfinite(bound) && bound > 0, "ScaleRowTo: a finite bound above 0");
  ScaleRowAbove(row, bound, bound);
}

void ScaleRowsTo(Matrix& x, double bound) {
  Require(std::isfinite(bound) && bound > 0, "ScaleRowsTo: a finite bound above 0");
  ScaleRowsAbove(x, bound, bound);
}

void NormaliseRowsTo(Matrix& x, double bound) {
  Require(std::isfinite(bound) && bound > 0, "NormaliseRowsTo: a finite bound above 0");
  ScaleRowsAbove(x, 0, bound);
}

}  // namespace trefoil::data

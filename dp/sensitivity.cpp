#include "dp/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace trefoil::dp {
namespace {

// Every bound is raised by this factor, which covers the roundings of the doubles that compute it.
constexpr double kOutward = 1 + 1e-12;

double Unit(const LinearContribution& example) { return std::ldexp(1.0, -example.frac_bits); }

}  // namespace

double RowBound(const LinearContribution& example) {
  return std::sqrt(example.row_norm * example.row_norm + 1) * kOutward;
}

double SquaredGradientBound(const LinearContribution& example, double slack) {
  const double row = RowBound(example);
  return (row * row + slack) * example.columns * example.error_bound * example.error_bound * kOutward;
}

double FactorisedSensitivity(const LinearContribution& example, double clip) {
  return (clip + RowBound(example) * std::sqrt(example.columns) * Unit(example)) * kOutward;
}

double UnclippedSensitivity(const LinearContribution& example) {
  return RowBound(example) * std::sqrt(example.columns) * example.error_bound * kOutward;
}

double PublishedSensitivity(const LinearContribution& example, double clip, double coordinates,
                            double excess_relative, double excess_units) {
  const double unit = Unit(example);
  // The truncated gradient's norm, and that of x' >= its square by at most two units of truncation and the
  // added one.
  const double gradient = UnclippedSensitivity(example) + std::sqrt(coordinates) * unit;
  const double root = std::sqrt(gradient * gradient + 3 * unit);
  // Clipped: ||g|| y <= 1 + relative + sqrt(x') units 2^-f; C y is rounded up by less than one unit, and so
  // is each coordinate.
  const double clipped =
      clip * (1 + excess_relative + root * excess_units * unit) + root * unit + std::sqrt(coordinates) * unit;
  // Not clipped: the rounded C y is at least 1, so y > (1 - unit) / C.
  const double least = (1 - unit) / clip - excess_units * unit;
  const double kept = least > 0 ? (1 + excess_relative) / least : root;
  return std::max(clipped, std::min(kept, root)) * kOutward;
}

}  // namespace trefoil::dp

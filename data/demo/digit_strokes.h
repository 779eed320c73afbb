#pragma once
#include <vector>

namespace trefoil::data {

/// A point of the unit square, y downwards.
struct Point {
  double x = 0;
  double y = 0;
};

/// One movement of the pen: through these points, by a smooth curve or by straight lines.
struct Stroke {
  bool smooth = true;
  std::vector<Point> points;
};

/// One way to write a digit.
using Glyph = std::vector<Stroke>;

/// The ways to write a digit of 0 to 9, at least one.
[[nodiscard]] const std::vector<Glyph>& GlyphsOf(int digit);

}  // namespace trefoil::data

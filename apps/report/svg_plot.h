#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trefoil::apps {

/// A line of a plot, points from left to right. Points that are not finite are left out.
struct PlotLine {
  std::string name;  ///< in the legend, where there are several
  std::vector<std::pair<double, double>> points;
};

/// A plot of one or two lines over one axis, both axes from 0, but for one with a range of its own.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotLine> lines;
  std::optional<std::pair<double, double>> x_range{};  ///< finite, its end above its beginning
  std::optional<std::pair<double, double>> y_range{};  ///< likewise
};

/// Numbers in steps of 1, 2 or 5 times a power of ten, multiples of the step, from `low` or less to the first
/// that is `high` or more: three to six steps. Pre: finite, low < high.
[[nodiscard]] std::vector<double> AxisTicks(double low, double high);
/// Numbers from 0 in steps of 1, 2 or 5 times a power of ten, up to the first that is `largest` or more:
/// three to five steps. 0 and 1 where `largest` is not a number above 0.
[[nodiscard]] std::vector<double> AxisTicks(double largest);

/// The plot as one <svg> element, without style of its own but classes: axis, grid, label, line-0, line-1. Of
/// long lines every k-th point is drawn, and the last, a few hundred in all. Text is escaped.
[[nodiscard]] std::string ToSvg(const Plot& plot);

}  // namespace trefoil::apps

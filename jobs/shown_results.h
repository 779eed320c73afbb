#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace trefoil::jobs {

/// Of a longer line some points alone are drawn.
inline constexpr std::size_t kMaxDrawnPoints = 400;

/// A line over an axis of a range of its own.
struct ShownPlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::pair<double, double> range;                ///< of the axis
  std::vector<std::pair<double, double>> points;  ///< from left to right
};

struct ShownTable {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  ///< as many cells each as the head has
};

/// What a report shows of a run's result files, beside the summary.
struct ShownResults {
  std::vector<ShownTable> tables{};
  std::vector<ShownPlot> plots{};
};

}  // namespace trefoil::jobs

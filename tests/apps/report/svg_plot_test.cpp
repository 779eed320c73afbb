#include "apps/report/svg_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trefoil::apps {
namespace {

using Ticks = std::vector<double>;

TEST(AxisTicks, AreRoundAndReachTheLargest) {
  EXPECT_EQ(AxisTicks(10), (Ticks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(AxisTicks(11), (Ticks{0, 5, 10, 15}));
  EXPECT_EQ(AxisTicks(49), (Ticks{0, 10, 20, 30, 40, 50}));
  EXPECT_EQ(AxisTicks(99), (Ticks{0, 20, 40, 60, 80, 100}));
  for (double largest = 1e-9; largest < 1e12; largest *= 1.07) {
    const auto ticks = AxisTicks(largest);
    EXPECT_GE(ticks.back(), largest * (1 - 1e-11));
    EXPECT_LT(ticks[ticks.size() - 2], largest);
    EXPECT_GE(ticks.size(), 4U) << largest;
    EXPECT_LE(ticks.size(), 6U) << largest;
  }
  for (const double none :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(AxisTicks(none), (Ticks{0, 1}));
}

TEST(AxisTicks, HaveARangeOfTheirOwn) {
  EXPECT_EQ(AxisTicks(17, 90), (Ticks{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(AxisTicks(20, 60), (Ticks{20, 30, 40, 50, 60}));
  EXPECT_EQ(AxisTicks(-20, 5), (Ticks{-20, -15, -10, -5, 0, 5}));
  EXPECT_EQ(AxisTicks(1000.5, 1002), (Ticks{1000.5, 1001, 1001.5, 1002}));
}

/// The points of a line, as drawn.
std::string PointsOf(const std::string& svg, int line) {
  const std::string start = "<polyline class=\"line-" + std::to_string(line) + "\" points=\"";
  const auto at = svg.find(start) + start.size();
  return svg.substr(at, svg.find('"', at) - at);
}

TEST(ToSvg, DrawsPointsWhereTheyBelong) {
  const auto svg = ToSvg(
      {.title = "a < b",
       .x_label = "step",
       .y_label = "value & more",
       .lines = {{.name = "one", .points = {{0, 0}, {5, 10}, {10, 5}}}, {.name = "two", .points = {}}}});
  // Left 62, right 460 - 16, bottom 260 - 48, top 34.
  EXPECT_EQ(PointsOf(svg, 0), "62.0,212.0 253.0,34.0 444.0,123.0");
  EXPECT_EQ(PointsOf(svg, 1), "");
  for (const auto* text : {"a &lt; b", ">step<", "value &amp; more", ">one<", ">two<", ">10<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
}

TEST(ToSvg, DrawsWithinARange) {
  const auto svg = ToSvg({.title = "",
                          .x_label = "",
                          .y_label = "",
                          .lines = {{.name = "", .points = {{-20, 0}, {0, 4}}}},
                          .x_range = std::pair{-20.0, 0.0}});
  EXPECT_EQ(PointsOf(svg, 0), "62.0,212.0 444.0,34.0");
}

TEST(ToSvg, DrawsWhatIsBelowZero) {
  const auto svg = ToSvg({.title = "",
                          .x_label = "",
                          .y_label = "",
                          .lines = {{.name = "", .points = {{-20, -20}, {0, 5}}}},
                          .x_range = std::pair{-20.0, 0.0},
                          .y_range = std::pair{-20.0, 5.0}});
  EXPECT_EQ(PointsOf(svg, 0), "62.0,212.0 444.0,34.0");
  EXPECT_NE(svg.find(">-20<"), std::string::npos);
}

TEST(ToSvg, LeavesOutWhatIsNoNumberAndThinsLongLines) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto broken =
      ToSvg({.title = "", .x_label = "", .y_label = "", .lines = {{"", {{1, infinity}, {2, 2}, {NAN, 1}}}}});
  EXPECT_EQ(PointsOf(broken, 0), "444.0,34.0");

  PlotLine line{.name = "", .points = {}};
  for (int i = 1; i <= 100'001; ++i) line.points.emplace_back(i, i);
  const auto points = PointsOf(ToSvg({.title = "", .x_label = "", .y_label = "", .lines = {line}}), 0);
  const auto count = std::count(points.begin(), points.end(), ',');
  EXPECT_GT(count, 200);
  EXPECT_LE(count, 401);
  const auto last = points.substr(points.rfind(' ') + 1);
  EXPECT_EQ(last.substr(0, 5), "316.7");  // 62 + 382 * 100001 / 150000
}

}  // namespace
}  // namespace trefoil::apps

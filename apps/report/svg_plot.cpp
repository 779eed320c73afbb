#include "apps/report/svg_plot.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "apps/report/html.h"
#include "jobs/shown_results.h"

namespace trefoil::apps {
namespace {

// In the units of the view box.
constexpr double kWidth = 460;
constexpr double kHeight = 260;
constexpr double kLeft = 62;
constexpr double kRight = 16;
constexpr double kTop = 34;
constexpr double kBottom = 48;
constexpr double kTick = 5;

struct Frame {
  std::vector<double> x_ticks;
  std::vector<double> y_ticks;

  [[nodiscard]] double X(double value) const {
    const double first = x_ticks.front();
    return kLeft + (kWidth - kLeft - kRight) * (value - first) / (x_ticks.back() - first);
  }
  [[nodiscard]] double Y(double value) const {
    const double first = y_ticks.front();
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (value - first) / (y_ticks.back() - first);
  }
};

Frame FrameOf(const Plot& plot) {
  double x = 0;
  double y = 0;
  for (const auto& line : plot.lines) {
    for (const auto& [at, value] : line.points) {
      if (!std::isfinite(at) || !std::isfinite(value)) continue;
      x = std::max(x, at);
      y = std::max(y, value);
    }
  }
  return {.x_ticks = plot.x_range ? AxisTicks(plot.x_range->first, plot.x_range->second) : AxisTicks(x),
          .y_ticks = plot.y_range ? AxisTicks(plot.y_range->first, plot.y_range->second) : AxisTicks(y)};
}

std::string Line(const char* name, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", name,
                     x1, y1, x2, y2);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                     anchor, EscapeHtml(text));
}

std::string Axes(const Plot& plot, const Frame& frame) {
  const double lowest = frame.y_ticks.front();
  const double bottom = frame.Y(lowest);
  std::string out;
  for (const double tick : frame.y_ticks) {
    if (tick > lowest) out += Line("grid", kLeft, frame.Y(tick), kWidth - kRight, frame.Y(tick));
    out += Text(kLeft - kTick - 2, frame.Y(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  for (const double tick : frame.x_ticks) {
    out += Line("axis", frame.X(tick), bottom, frame.X(tick), bottom + kTick);
    out += Text(frame.X(tick), bottom + kTick + 14, "middle", fmt::format("{:g}", tick));
  }
  out += Line("axis", kLeft, bottom, kWidth - kRight, bottom);
  out += Line("axis", kLeft, bottom, kLeft, kTop);
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", plot.x_label);
  const double middle = (kTop + bottom) / 2;
  return out + fmt::format(
                   "<text class=\"label\" x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" "
                   "transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
                   middle, EscapeHtml(plot.y_label));
}

std::string Polyline(const PlotLine& line, const Frame& frame, std::size_t number) {
  std::string points;
  const std::size_t count = line.points.size();
  const std::size_t every =
      std::max<std::size_t>(1, (count + jobs::kMaxDrawnPoints - 1) / jobs::kMaxDrawnPoints);
  for (std::size_t k = 0; k < count; ++k) {
    if (k % every != 0 && k + 1 != count) continue;
    const auto& [x, y] = line.points[k];
    if (std::isfinite(x) && std::isfinite(y)) points += fmt::format("{:.1f},{:.1f} ", frame.X(x), frame.Y(y));
  }
  if (!points.empty()) points.pop_back();
  return fmt::format("<polyline class=\"line-{}\" points=\"{}\"/>\n", number, points);
}

std::string Legend(const Plot& plot) {
  std::string out;
  double x = kLeft + 12;
  for (std::size_t k = 0; k < plot.lines.size() && plot.lines.size() > 1; ++k) {
    const double y = kTop + 10;
    out += Line(fmt::format("line-{}", k).c_str(), x, y, x + 18, y);
    out += Text(x + 24, y + 4, "start", plot.lines[k].name);
    x += 40 + 7 * static_cast<double>(plot.lines[k].name.size());
  }
  return out;
}

}  // namespace

std::vector<double> AxisTicks(double low, double high) {
  const double span = high - low;
  const double power = std::pow(10, std::floor(std::log10(span)));
  double step = power;
  for (const double factor : {0.2, 0.5, 1.0, 2.0}) {
    step = factor * power;
    if (span <= 5 * step * (1 + 1e-12)) break;
  }
  const double first = std::floor(low / step + 1e-9);
  std::vector<double> ticks{first * step};
  while (ticks.back() < high - 1e-12 * span)
    ticks.push_back((first + static_cast<double>(ticks.size())) * step);
  return ticks;
}

std::vector<double> AxisTicks(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return {0, 1};
  return AxisTicks(0, largest);
}

std::string ToSvg(const Plot& plot) {
  const Frame frame = FrameOf(plot);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">\n",
      kWidth, kHeight, EscapeHtml(plot.title));
  out += fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"18\" text-anchor=\"middle\">{}</text>\n",
                     kWidth / 2, EscapeHtml(plot.title));
  out += Axes(plot, frame);
  for (std::size_t k = 0; k < plot.lines.size(); ++k) out += Polyline(plot.lines[k], frame, k);
  return out + Legend(plot) + "</svg>\n";
}

}  // namespace trefoil::apps

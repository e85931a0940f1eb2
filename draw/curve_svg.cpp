#include "draw/curve.hpp"
#include "draw/svg.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gradus::draw {

namespace {

constexpr double edge = 10;
constexpr double title_size = 14;
constexpr double text_size = 11;
constexpr double width = 440;  // narrow enough that the text can be read on a phone
constexpr double plot_height = 210;
constexpr std::size_t dotted = 40;  // series up to this length get a dot per point

/// The rectangle of the plot, in user units.
struct Frame {
  Axes axes;
  double left, top, right, bottom;
  double x(double value) const { return left + (right - left) * axes.across(value); }
  double y(double value) const { return bottom - (bottom - top) * axes.up(value); }
};

std::string_view dashes(int index) {
  constexpr std::string_view kinds[] = {"", "6 4", "1 4"};
  return kinds[std::min(index / series_colors, 2)];
}

struct Point {
  double x, y;
  std::size_t index;
};

/// The pieces of a series between its gaps, in user units.
std::vector<std::vector<Point>> pieces(const Series& series, const Frame& frame) {
  std::vector<std::vector<Point>> result(1);
  for (std::size_t k = 0; k < series.y.size(); ++k) {
    const Point point{frame.x(x_of(series, k)), frame.y(series.y[k]), k};
    if (std::isfinite(point.x) && std::isfinite(point.y)) {
      result.back().push_back(point);
    } else if (!result.back().empty()) {
      result.emplace_back();
    }
  }
  if (result.back().empty()) result.pop_back();
  return result;
}

/// Keeps, of each run of points that fall on the same unit of width, the first, lowest, highest and last.
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> result;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t end = first;
    std::size_t lowest = first;
    std::size_t highest = first;
    for (; end < points.size() && std::floor(points[end].x) == std::floor(points[first].x); ++end) {
      if (points[end].y < points[lowest].y) lowest = end;
      if (points[end].y > points[highest].y) highest = end;
    }
    std::size_t kept[] = {first, std::min(lowest, highest), std::max(lowest, highest), end - 1};
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == 0 || kept[i] != kept[i - 1]) result.push_back(points[kept[i]]);
    }
    first = end;
  }
  return result;
}

void draw_series(Svg& svg, const Series& series, int index, const Frame& frame) {
  const Rgb color = series_color(index);
  const std::string name = printable(series.name);
  for (const std::vector<Point>& piece : pieces(series, frame)) {
    std::string path;
    for (const Point& point : thinned(piece)) {
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(point.x), coordinate(point.y));
    }
    if (piece.size() > 1) svg.path(path, color, dashes(index), name);
    if (piece.size() > 1 && series.y.size() > dotted) continue;
    for (const Point& point : piece) {
      svg.circle(point.x, point.y, 2.4, color,
                 fmt::format("{}{}{}, {}", name, name.empty() ? "" : ": ", short_number(x_of(series, point.index)),
                             short_number(series.y[point.index])));
    }
  }
}

void draw_axes(Svg& svg, const Curve& curve, const Frame& frame, const std::vector<double>& y_ticks) {
  const std::vector<std::string> y_labels = tick_labels(y_ticks);
  for (std::size_t i = 0; i < y_ticks.size(); ++i) {
    const double y = frame.y(y_ticks[i]);
    svg.line(frame.left, y, frame.right, y, 0.15);
    svg.text(frame.left - 5, y, y_labels[i], {.size = text_size, .anchor = "end", .middle = true});
  }
  const std::vector<double> x_ticks = nice_ticks(frame.axes.x, 5);
  const std::vector<std::string> x_labels = tick_labels(x_ticks);
  for (std::size_t i = 0; i < x_ticks.size(); ++i) {
    const double x = frame.x(x_ticks[i]);
    svg.line(x, frame.top, x, frame.bottom, 0.15);
    svg.text(x, frame.bottom + 4 + text_size, x_labels[i], {.size = text_size, .anchor = "middle"});
  }
  svg.line(frame.left, frame.bottom, frame.right, frame.bottom);
  svg.line(frame.left, frame.top, frame.left, frame.bottom);
  svg.text((frame.left + frame.right) / 2, frame.bottom + 6 + 2.2 * text_size, printable(curve.x_title),
           {.size = text_size, .anchor = "middle"});
  svg.text(edge + text_size / 2, (frame.top + frame.bottom) / 2, printable(curve.y_title),
           {.size = text_size, .anchor = "middle", .middle = true, .rotated = true});
}

/// Draws the names in rows below `top` and returns where they end. A single series needs none: the y axis names it.
double draw_legend(Svg& svg, const Curve& curve, double top) {
  if (curve.series.size() < 2) return top;
  double x = edge;
  double y = top + text_size;
  for (std::size_t i = 0; i < curve.series.size(); ++i) {
    const std::string name = clipped(printable(curve.series[i].name), 40);
    const double extent = 24 + text_width(name, text_size) + 8;
    if (x > edge && x + extent > width - edge) {
      x = edge;
      y += 1.5 * text_size;
    }
    const int index = static_cast<int>(i);
    svg.path(fmt::format("M{} {}h18", coordinate(x), coordinate(y - 4)), series_color(index), dashes(index));
    svg.text(x + 23, y, name, {.size = text_size});
    x += extent;
  }
  return y + 6;
}

}  // namespace

std::string to_svg(const Curve& curve) {
  Frame frame{axes_of(curve), 0, 0, 0, 0};
  Svg svg("curve", curve.title.empty() ? "line chart" : printable(curve.title));
  double y = edge;
  for (const std::string& line : wrapped(printable(curve.title), static_cast<int>((width - 2 * edge) / (0.602 * 14)))) {
    svg.text(edge, y + title_size, line, {.size = title_size, .bold = true});
    y += 1.3 * title_size;
  }
  y = draw_legend(svg, curve, y + 4);
  const std::vector<double> y_ticks = curve.log_y ? log_ticks(frame.axes.y, 6) : nice_ticks(frame.axes.y, 5);
  double label = 0;
  for (const std::string& text : tick_labels(y_ticks)) label = std::max(label, text_width(text, text_size));
  frame.left = edge + (curve.y_title.empty() ? 0 : text_size + 6) + label + 6;
  frame.right = width - edge - 8;
  frame.top = y + 6;
  frame.bottom = frame.top + plot_height;
  draw_axes(svg, curve, frame, y_ticks);
  for (std::size_t i = 0; i < curve.series.size(); ++i) {
    draw_series(svg, curve.series[i], static_cast<int>(i), frame);
  }
  return svg.document(width, frame.bottom + text_size + 4 + (curve.x_title.empty() ? 0 : 1.4 * text_size) + edge);
}

}  // namespace gradus::draw

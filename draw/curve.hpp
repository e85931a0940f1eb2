#pragma once

#include "draw/terminal.hpp"
#include "draw/ticks.hpp"

#include <span>
#include <string>
#include <vector>

namespace gradus::draw {

/// One line of a chart. A point that is not finite (or not positive on a logarithmic axis) breaks the line.
struct Series {
  std::string name;
  std::vector<double> x;  ///< as long as y, or empty: then 0, 1, 2, ...
  std::vector<double> y;
};

/// A chart of lines over a common pair of axes: a loss over steps, a learning rate.
struct Curve {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<Series> series;
  bool log_y = false;
};

/// The frame of a chart: what the axes span, and where a point lies in it.
struct Axes {
  Range x, y;
  bool log_y = false;
  /// Place of `value` across the frame, 0 at its left side.
  double across(double value) const;
  /// Place of `value` above the frame's floor, 1 at its ceiling; NaN for a value that cannot be shown.
  double up(double value) const;
};

/// Axes that hold every point that can be shown; never degenerate. Error: a series with unequal counts of x and y.
Axes axes_of(const Curve& curve);

/// The x of point `k` of a series.
double x_of(const Series& series, std::size_t k);

/// A chart as SVG: ticks, grid, legend, dots with tooltips on short series. Long series are thinned to the first,
/// least, greatest and last value of each unit of width, which looks the same.
std::string to_svg(const Curve& curve);

/// A chart of `height` lines of braille dots for the terminal, with ticks and a legend. Without colour each line of
/// several carries its letter.
std::string to_terminal(const Curve& curve, const Terminal& terminal, int height = 12);

/// A line of at most `width` block characters, as `▁▂▅█`; longer input is averaged in groups, a gap is a space.
std::string sparkline(std::span<const double> values, int width);

}  // namespace gradus::draw

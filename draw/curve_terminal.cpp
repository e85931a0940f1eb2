#include "draw/curve.hpp"
#include "draw/palette.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace gradus::draw {

namespace {

/// A grid of characters, each of 2 x 4 braille dots; the latest series to touch a character colours it.
struct Canvas {
  struct Cell {
    unsigned dots = 0;
    int series = -1;
    char letter = 0;
  };
  int columns, rows;
  std::vector<Cell> cells;

  Canvas(int columns_, int rows_)
      : columns(columns_), rows(rows_), cells(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

  Cell& at(int column, int row) {
    return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
  /// Sets the dot at (x, y), counted from the top left.
  void dot(int x, int y, int series) {
    // The numbers of the dots in U+2800: 1 2 3 7 down the left column, 4 5 6 8 down the right one.
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = at(x / 2, y / 4);
    cell.dots |= bits[y % 4][x % 2];
    cell.series = series;
  }
  /// A straight line, one dot per step along its longer side.
  void line(int x1, int y1, int x2, int y2, int series) {
    const int steps = std::max({1, std::abs(x2 - x1), std::abs(y2 - y1)});
    for (int i = 0; i <= steps; ++i) {
      const double weight = static_cast<double>(i) / steps;
      dot(static_cast<int>(std::lround(x1 + weight * (x2 - x1))),
          static_cast<int>(std::lround(y1 + weight * (y2 - y1))), series);
    }
  }
};

/// Nearest of `count` places to a fraction.
int place(double fraction, int count) {
  return std::clamp(static_cast<int>(std::lround(fraction * (count - 1))), 0, count - 1);
}

void plot(Canvas& canvas, const Curve& curve, const Axes& axes, int index, bool letters) {
  const Series& series = curve.series[static_cast<std::size_t>(index)];
  bool connected = false;
  int last_x = 0;
  int last_y = 0;
  std::vector<std::pair<int, int>> drawn;
  for (std::size_t k = 0; k < series.y.size(); ++k) {
    const double across = axes.across(x_of(series, k));
    const double up = axes.up(series.y[k]);
    if (!std::isfinite(across) || !std::isfinite(up)) {
      connected = false;
      continue;
    }
    const int x = place(across, 2 * canvas.columns);
    const int y = place(1 - up, 4 * canvas.rows);
    canvas.line(connected ? last_x : x, connected ? last_y : y, x, y, index);
    drawn.emplace_back(x / 2, y / 4);
    connected = true;
    last_x = x;
    last_y = y;
  }
  if (!letters || drawn.empty()) return;
  // Spread along the lines, so that lines which meet at an end keep their letters apart.
  const std::size_t k = drawn.size() * static_cast<std::size_t>(index + 1) / (curve.series.size() + 1);
  canvas.at(drawn[k].first, drawn[k].second).letter = static_cast<char>('a' + index % 26);
}

std::string row_text(Canvas& canvas, int row, bool color) {
  std::string result;
  int current = -1;
  for (int column = 0; column < canvas.columns; ++column) {
    const Canvas::Cell& cell = canvas.at(column, row);
    if (color && cell.series >= 0 && cell.series != current) {
      result += foreground(series_color(cell.series));
      current = cell.series;
    }
    result += cell.letter != 0 ? std::string(1, cell.letter) : cell.dots == 0 ? " " : encode_utf8(0x2800 + cell.dots);
  }
  return result + (current >= 0 ? reset_color : "");
}

/// The tick marks of the x axis and the labels below them, those that fit.
std::string x_axis(const Axes& axes, int margin, int columns) {
  std::string marks;
  std::string labels(static_cast<std::size_t>(margin), ' ');
  const std::vector<double> ticks = nice_ticks(axes.x, std::clamp(columns / 12, 1, 8));
  const std::vector<std::string> texts = tick_labels(ticks);
  std::vector<bool> marked(static_cast<std::size_t>(columns), false);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const int column = place(axes.across(ticks[i]), 2 * columns) / 2;
    marked[static_cast<std::size_t>(column)] = true;
    const int length = static_cast<int>(texts[i].size());
    const int start = std::max(0, std::min(margin + 1 + column - length / 2, margin + 1 + columns - length));
    const int used = static_cast<int>(labels.size());
    if (start <= used && i > 0) continue;
    labels.resize(static_cast<std::size_t>(std::min(used, start)));
    labels += repeated(" ", start - used) + texts[i];
  }
  for (const bool mark : marked) marks += mark ? "┬" : "─";
  return repeated(" ", margin) + "└" + marks + "\n" + labels + "\n";
}

std::string legend(const Curve& curve, bool color, int columns) {
  std::string result;
  int used = 0;
  for (std::size_t i = 0; i < curve.series.size(); ++i) {
    const int index = static_cast<int>(i);
    const std::string name = clipped(printable(curve.series[i].name), std::max(4, columns - 4));
    const int extent = 2 + display_width(name) + 3;
    if (used > 0 && used + extent > columns) {
      result += "\n";
      used = 0;
    }
    result += color ? foreground(series_color(index)) + "━" + reset_color
                    : std::string(1, static_cast<char>('a' + index % 26));
    result += " " + name + "   ";
    used += extent;
  }
  return result + "\n";
}

}  // namespace

std::string to_terminal(const Curve& curve, const Terminal& terminal, int height) {
  const Axes axes = axes_of(curve);
  const int rows = std::clamp(height, 3, 200);
  const std::vector<double> ticks = curve.log_y ? log_ticks(axes.y, rows / 3) : nice_ticks(axes.y, rows / 3);
  const std::vector<std::string> texts = tick_labels(ticks);
  int margin = 1;
  for (const std::string& text : texts) margin = std::max(margin, static_cast<int>(text.size()) + 1);
  Canvas canvas(std::clamp(terminal.columns - margin - 2, 8, 1000), rows);
  const bool several = curve.series.size() > 1;
  for (int i = 0; i < static_cast<int>(curve.series.size()); ++i) {
    plot(canvas, curve, axes, i, several && !terminal.color);
  }
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    labels[static_cast<std::size_t>(place(1 - axes.up(ticks[i]), 4 * rows) / 4)] = texts[i];
  }
  std::string result;
  for (const std::string& line : wrapped(printable(curve.title), std::max(8, terminal.columns - 1)))
    result += line + "\n";
  if (several) result += legend(curve, terminal.color, terminal.columns - 1);
  if (!curve.y_title.empty()) result += "↑ " + printable(curve.y_title) + "\n";
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    result += padded(label, margin - 1, Side::right) + (label.empty() ? " │" : " ┤") +
              row_text(canvas, row, terminal.color) + "\n";
  }
  result += x_axis(axes, margin, canvas.columns);
  if (!curve.x_title.empty())
    result += padded("→ " + printable(curve.x_title), terminal.columns - 1, Side::right) + "\n";
  return result;
}

}  // namespace gradus::draw

#include "draw/heat_map.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace gradus::draw {

namespace {

// A shade and the fraction of the range it ends at. The first is narrow: what is next to nothing (a masked key) stands
// apart from what is only small.
struct Shade {
  std::string_view character;
  double end;
};
constexpr Shade shades[] = {{"·", 0.05}, {"░", 0.25}, {"▒", 0.5}, {"▓", 0.75}, {"█", 1}};
constexpr int longest_label = 16;

/// How the columns share the width of the terminal.
struct Grid {
  int margin = 0;     ///< width of the row labels
  int cell = 2;       ///< width of one cell
  bool flat = false;  ///< column labels are written in one line, otherwise downwards
  int per_block = 1;  ///< columns of the map in one block
};

Grid plan(const HeatMap& map, int width) {
  Grid grid;
  int label = 1;      // the widest column label
  int character = 1;  // the widest character in one
  for (int i = 0; i < map.columns; ++i) {
    const std::string text = column_label(map, i);
    label = std::max(label, display_width(text));
    for (const std::string& c : characters(text)) character = std::max(character, display_width(c));
  }
  for (int i = 0; i < map.rows; ++i) grid.margin = std::max(grid.margin, display_width(row_label(map, i)));
  grid.margin = std::min(grid.margin, longest_label) + 1;
  const int room = std::max(4, width - grid.margin - 1);
  grid.cell = 2;
  if (map.numbers) {
    for (const double value : map.values) {
      grid.cell = std::max(grid.cell, static_cast<int>(cell_number(value).size()) + 1);
    }
  } else if (label > 2 && label <= 8 && (label + 1) * map.columns <= room) {
    grid.cell = label + 1;
  } else if (2 * map.columns > room && map.columns <= room && character == 1) {
    grid.cell = 1;
  }
  grid.cell = std::min(grid.cell, room);
  grid.flat = label + (grid.cell > 2 ? 1 : 0) <= grid.cell;
  grid.per_block = std::max(1, room / grid.cell);
  return grid;
}

std::string column_header(const HeatMap& map, const Grid& grid, int first, int last) {
  const std::string margin(static_cast<std::size_t>(grid.margin), ' ');
  std::string result;
  if (grid.flat) {
    result = margin;
    for (int j = first; j < last; ++j) result += padded(column_label(map, j), grid.cell, Side::center);
    return result + "\n";
  }
  // Written downwards, ending just above the cells.
  std::size_t height = 0;
  std::vector<std::vector<std::string>> labels;
  for (int j = first; j < last; ++j) {
    labels.push_back(characters(clipped(column_label(map, j), longest_label)));
    height = std::max(height, labels.back().size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    result += margin;
    for (const std::vector<std::string>& label : labels) {
      const std::size_t above = height - label.size();
      result += padded(line < above ? "" : label[line - above], grid.cell, Side::center);
    }
    result += "\n";
  }
  return result;
}

std::string cell(const HeatMap& map, const Grid& grid, Range range, double value, bool color) {
  const double fraction = fraction_of(value, range);
  const std::string text = map.numbers         ? cell_number(value)
                           : std::isnan(value) ? repeated("×", std::min(grid.cell, 2))
                                               : "";
  if (color) {
    const Rgb fill = color_at(map.palette, fraction);
    return background(fill) + foreground(ink_on(fill)) + padded(text, grid.cell, Side::center);
  }
  if (map.numbers || std::isnan(value)) return padded(text, grid.cell, Side::center);
  const Shade* shade = std::begin(shades);
  while (shade + 1 != std::end(shades) && fraction >= shade->end) ++shade;
  return padded(repeated(shade->character, std::min(grid.cell, 2)), grid.cell, Side::center);
}

std::string legend(const HeatMap& map, Range range, bool color, bool missing) {
  std::string result;
  if (color) {
    constexpr int length = 24;
    result = short_number(range.low) + " ";
    for (int i = 0; i < length; ++i) result += background(color_at(map.palette, (i + 0.5) / length)) + " ";
    result += std::string(reset_color) + " " + short_number(range.high);
    if (missing) result += "   " + background(nan_color) + foreground(ink_on(nan_color)) + "××" + reset_color;
    if (missing) result += " NaN";
    return result + "\n";
  }
  if (map.numbers) return result;
  result = short_number(range.low);
  for (const Shade& shade : shades) {
    const double end = range.low * (1 - shade.end) + range.high * shade.end;
    result += fmt::format(" {} {}", shade.character, short_number(end));
  }
  if (missing) result += "   ×× NaN";
  return result + "\n";
}

std::string axis_titles(const HeatMap& map) {
  std::string result;
  if (!map.row_title.empty()) result += "↓ " + printable(map.row_title);
  if (!map.column_title.empty()) result += (result.empty() ? "→ " : "   → ") + printable(map.column_title);
  return result.empty() ? result : result + "\n";
}

}  // namespace

std::string to_terminal(const HeatMap& map, const Terminal& terminal) {
  const Range range = color_range(map);
  const Grid grid = plan(map, terminal.columns);
  std::string result;
  for (const std::string& line : wrapped(printable(map.title), std::max(10, terminal.columns - 1)))
    result += line + "\n";
  result += axis_titles(map);
  for (int first = 0; first < map.columns; first += grid.per_block) {
    const int last = std::min(map.columns, first + grid.per_block);
    if (grid.per_block < map.columns) result += fmt::format("columns {} to {}\n", first, last - 1);
    result += column_header(map, grid, first, last);
    for (int i = 0; i < map.rows; ++i) {
      result += padded(clipped(row_label(map, i), grid.margin - 1), grid.margin - 1, Side::right) + " ";
      for (int j = first; j < last; ++j) { result += cell(map, grid, range, value_at(map, i, j), terminal.color); }
      result += terminal.color ? reset_color : "";
      result += "\n";
    }
  }
  if (map.values.empty()) return result + fmt::format("(no cells: {} rows, {} columns)\n", map.rows, map.columns);
  const bool missing = std::any_of(map.values.begin(), map.values.end(), [](double v) { return std::isnan(v); });
  return result + legend(map, range, terminal.color, missing);
}

}  // namespace gradus::draw

#pragma once

#include "draw/palette.hpp"
#include "draw/terminal.hpp"
#include "draw/ticks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gradus::draw {

/// A matrix to look at: attention weights (queries down, keys across), a Jacobian, a mask.
struct HeatMap {
  int rows = 0;
  int columns = 0;
  std::vector<double> values;              ///< [rows, columns], row by row; NaN means missing
  std::vector<std::string> row_labels;     ///< one per row, or none: then rows are numbered from 0
  std::vector<std::string> column_labels;  ///< one per column, or none
  std::string title;
  std::string row_title;               ///< what the rows are, as `query`
  std::string column_title;            ///< what the columns are, as `key`
  std::optional<double> low, high;     ///< the ends of the colours; where not given, those of the finite values
  Palette palette = Palette::viridis;  ///< with `balance` and no ends the range is symmetric around 0
  bool numbers = false;                ///< write each number into its cell
};

/// The range that the colours span. Errors: counts that do not match, `low` not below `high`.
Range color_range(const HeatMap& map);

/// The number in a cell.
double value_at(const HeatMap& map, int row, int column);

/// The label of row `i`, safe to print and with its spaces visible.
std::string row_label(const HeatMap& map, int i);

/// The label of column `i`, likewise.
std::string column_label(const HeatMap& map, int i);

/// The number as it is written into a cell: two decimals, or two digits when it is large.
std::string cell_number(double value);

/// A map for the terminal: labels on both axes, two columns per cell where they fit, 24-bit colours or else shades
/// (`·░▒▓█`), `×` for NaN, and a legend. A map wider than the terminal continues below, block by block.
std::string to_terminal(const HeatMap& map, const Terminal& terminal);

/// A map as SVG: a square per cell with its number as a tooltip, a colour bar with ticks, NaN as a crossed grey cell.
std::string to_svg(const HeatMap& map);

}  // namespace gradus::draw

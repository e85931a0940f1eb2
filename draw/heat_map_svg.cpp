#include "draw/heat_map.hpp"
#include "draw/svg.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gradus::draw {

namespace {

constexpr double edge = 10;  // empty border
constexpr double title_size = 14;
constexpr double text_size = 11;
constexpr double least_width = 300;  // so that the colour bar and short titles always fit
constexpr int longest_label = 20;

/// Where everything is, in user units.
struct Plan {
  double cell = 0;
  double label_size = 0;
  bool rotated = false;                             ///< column labels are turned
  double left = 0, top = 0, right = 0, bottom = 0;  ///< the cells
  double width = 0, height = 0;                     ///< the picture
  std::vector<std::string> title;
};

Plan plan(const HeatMap& map) {
  Plan p;
  // About 400 units of cells: small maps stay small, large ones grow, because a cell below 7 units cannot carry a
  // label.
  const int longer = std::max({1, map.rows, map.columns});
  p.cell = std::clamp(400.0 / longer, 7.0, map.numbers ? 40.0 : 28.0);
  if (map.numbers) p.cell = std::max(p.cell, 26.0);
  p.label_size = std::clamp(0.9 * p.cell, 6.5, 12.0);
  double row_width = 0;
  double column_width = 0;
  for (int i = 0; i < map.rows; ++i) {
    row_width = std::max(row_width, text_width(clipped(row_label(map, i), longest_label), p.label_size));
  }
  for (int j = 0; j < map.columns; ++j) {
    column_width = std::max(column_width, text_width(clipped(column_label(map, j), longest_label), p.label_size));
  }
  p.rotated = column_width > p.cell - 1;
  p.left = edge + (map.row_title.empty() ? 0 : text_size + 6) + row_width + 5;
  p.right = p.left + map.columns * p.cell;
  p.width = std::max(least_width, p.right + edge);
  p.title = wrapped(printable(map.title), std::max(8, static_cast<int>((p.width - 2 * edge) / (0.602 * title_size))));
  p.top = edge + static_cast<double>(p.title.size()) * 1.3 * title_size + (p.title.empty() ? 0 : 4) +
          (map.column_title.empty() ? 0 : text_size + 6) + (p.rotated ? column_width : p.label_size) + 5;
  p.bottom = p.top + map.rows * p.cell;
  p.height = p.bottom + 12 + 10 + 4 + text_size + edge;
  return p;
}

void draw_titles(Svg& svg, const HeatMap& map, const Plan& p) {
  double y = edge + title_size;
  for (const std::string& line : p.title) {
    svg.text(edge, y, line, {.size = title_size, .bold = true});
    y += 1.3 * title_size;
  }
  if (!map.column_title.empty()) {
    const double baseline = y - title_size + text_size + (p.title.empty() ? 0 : 4) - 2;
    svg.text((p.left + p.right) / 2, baseline, printable(map.column_title) + " →",
             {.size = text_size, .anchor = "middle"});
  }
  if (!map.row_title.empty()) {
    svg.text(edge + text_size / 2, (p.top + p.bottom) / 2, "← " + printable(map.row_title),
             {.size = text_size, .anchor = "middle", .middle = true, .rotated = true});
  }
}

void draw_labels(Svg& svg, const HeatMap& map, const Plan& p) {
  svg.open_group(monospace);
  for (int i = 0; i < map.rows; ++i) {
    svg.text(p.left - 4, p.top + (i + 0.5) * p.cell, clipped(row_label(map, i), longest_label),
             {.size = p.label_size, .anchor = "end", .middle = true});
  }
  for (int j = 0; j < map.columns; ++j) {
    const double x = p.left + (j + 0.5) * p.cell;
    const std::string label = clipped(column_label(map, j), longest_label);
    if (p.rotated) {
      svg.text(x, p.top - 4, label, {.size = p.label_size, .middle = true, .rotated = true});
    } else {
      svg.text(x, p.top - 5, label, {.size = p.label_size, .anchor = "middle"});
    }
  }
  svg.close_group();
}

void draw_cells(Svg& svg, const HeatMap& map, const Plan& p, Range range) {
  const std::string row = map.row_title.empty() ? "row" : printable(map.row_title);
  const std::string column = map.column_title.empty() ? "column" : printable(map.column_title);
  svg.open_group(R"svg(shape-rendering="crispEdges")svg");
  for (int i = 0; i < map.rows; ++i) {
    for (int j = 0; j < map.columns; ++j) {
      const double value = value_at(map, i, j);
      const double x = p.left + j * p.cell;
      const double y = p.top + i * p.cell;
      const Rgb fill = color_at(map.palette, fraction_of(value, range));
      svg.rect(
          x, y, p.cell, p.cell, fill,
          fmt::format("{} {}, {} {}: {}", row, row_label(map, i), column, column_label(map, j), short_number(value)));
    }
  }
  svg.close_group();
}

/// Draws what lies on the cells: a cross where the number is missing, or the numbers.
void draw_marks(Svg& svg, const HeatMap& map, const Plan& p, Range range) {
  svg.open_group(R"svg(pointer-events="none")svg");
  for (int i = 0; i < map.rows; ++i) {
    for (int j = 0; j < map.columns; ++j) {
      const double value = value_at(map, i, j);
      const double x = p.left + j * p.cell;
      const double y = p.top + i * p.cell;
      if (std::isnan(value)) {
        const double inset = 0.25 * p.cell;
        svg.line(x + inset, y + inset, x + p.cell - inset, y + p.cell - inset);
        svg.line(x + inset, y + p.cell - inset, x + p.cell - inset, y + inset);
      } else if (map.numbers) {
        const std::string text = cell_number(value);
        const double size = std::min(0.33 * p.cell, 1.5 * p.cell / static_cast<double>(text.size()));
        svg.open_group(fmt::format(R"(fill="{}")", hex(ink_on(color_at(map.palette, fraction_of(value, range))))));
        svg.text(x + p.cell / 2, y + p.cell / 2, text, {.size = size, .anchor = "middle", .middle = true});
        svg.close_group();
      }
    }
  }
  svg.close_group();
}

void draw_color_bar(Svg& svg, const HeatMap& map, const Plan& p, Range range) {
  constexpr int pieces = 60;
  const double top = p.bottom + 12;
  const double length = std::min(240.0, p.width - 2 * edge - 60);
  const double left = std::min(std::max(p.left, edge + 16), p.width - edge - length - 16);
  svg.open_group(R"svg(shape-rendering="crispEdges")svg");
  for (int i = 0; i < pieces; ++i) {
    svg.rect(left + i * length / pieces, top, length / pieces, 10, color_at(map.palette, (i + 0.5) / pieces));
  }
  svg.close_group();
  const std::vector<double> ticks = nice_ticks(range, 5);
  const std::vector<std::string> labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = left + length * std::clamp(fraction_of(ticks[i], range), 0.0, 1.0);
    svg.line(x, top + 10, x, top + 13);
    svg.text(x, top + 14 + text_size, labels[i], {.size = text_size, .anchor = "middle"});
  }
}

}  // namespace

std::string to_svg(const HeatMap& map) {
  const Range range = color_range(map);
  const Plan p = plan(map);
  Svg svg("heat-map", map.title.empty() ? "heat map" : printable(map.title));
  draw_titles(svg, map, p);
  draw_labels(svg, map, p);
  draw_cells(svg, map, p, range);
  draw_marks(svg, map, p, range);
  draw_color_bar(svg, map, p, range);
  return svg.document(p.width, p.height);
}

}  // namespace gradus::draw

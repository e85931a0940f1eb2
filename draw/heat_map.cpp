#include "draw/heat_map.hpp"

#include "core/error.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gradus::draw {

namespace {

void check(const HeatMap& map) {
  const auto count = [](const auto& list) { return static_cast<long long>(list.size()); };
  const long long expected = static_cast<long long>(map.rows) * map.columns;
  if (map.rows < 0 || map.columns < 0) {
    fail("heat map: {} rows and {} columns; neither can be negative", map.rows, map.columns);
  }
  if (count(map.values) != expected) {
    fail("heat map: {} values for {} rows and {} columns; {} are needed", map.values.size(), map.rows, map.columns,
         expected);
  }
  if (!map.row_labels.empty() && count(map.row_labels) != map.rows) {
    fail("heat map: {} row labels for {} rows; give one per row or none", map.row_labels.size(), map.rows);
  }
  if (!map.column_labels.empty() && count(map.column_labels) != map.columns) {
    fail("heat map: {} column labels for {} columns; give one per column or none", map.column_labels.size(),
         map.columns);
  }
  for (const std::optional<double>& end : {map.low, map.high}) {
    if (end && !std::isfinite(*end)) fail("heat map: a colour range that ends at {}; its ends must be finite", *end);
  }
  if (map.low && map.high && !(*map.low < *map.high)) {
    fail("heat map: a colour range from {} to {}; low must be below high", *map.low, *map.high);
  }
}

std::string label(const std::vector<std::string>& labels, int i) {
  return labels.empty() ? std::to_string(i) : visible(labels[static_cast<std::size_t>(i)]);
}

}  // namespace

Range color_range(const HeatMap& map) {
  check(map);
  Range range;
  for (const double value : map.values) range.include(value);
  if (map.palette == Palette::balance && !(map.low && map.high)) {
    const double size = map.low         ? std::abs(*map.low)
                        : map.high      ? std::abs(*map.high)
                        : range.empty() ? 1
                                        : std::max(std::abs(range.low), std::abs(range.high));
    range = {-size, size};
  }
  if (map.low) range.low = *map.low;
  if (map.high) range.high = *map.high;
  // All values beyond the one end that was given: keep that end and make room on its other side.
  if (map.low && !(range.low < range.high)) range.high = range.low + std::max(1.0, std::abs(range.low));
  if (map.high && !(range.low < range.high)) range.low = range.high - std::max(1.0, std::abs(range.high));
  return widened(range);
}

double value_at(const HeatMap& map, int row, int column) {
  return map
      .values[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.columns) + static_cast<std::size_t>(column)];
}

std::string row_label(const HeatMap& map, int i) { return label(map.row_labels, i); }

std::string column_label(const HeatMap& map, int i) { return label(map.column_labels, i); }

std::string cell_number(double value) {
  if (std::isnan(value)) return "nan";
  return std::abs(value) < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.2g}", value);
}

}  // namespace gradus::draw

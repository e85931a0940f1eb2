#include "draw/curve.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

namespace gradus::draw {

double x_of(const Series& series, std::size_t k) { return series.x.empty() ? static_cast<double>(k) : series.x[k]; }

double Axes::across(double value) const { return fraction_of(value, x); }

double Axes::up(double value) const {
  if (!log_y) return fraction_of(value, y);
  if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
  return fraction_of(std::log10(value), {std::log10(y.low), std::log10(y.high)});
}

Axes axes_of(const Curve& curve) {
  Axes axes;
  axes.log_y = curve.log_y;
  for (const Series& series : curve.series) {
    if (!series.x.empty() && series.x.size() != series.y.size()) {
      fail("curve: series '{}' has {} x for {} y; give as many, or no x at all", series.name, series.x.size(),
           series.y.size());
    }
    for (std::size_t k = 0; k < series.y.size(); ++k) {
      const double x = x_of(series, k);
      const double y = series.y[k];
      if (!std::isfinite(x) || !std::isfinite(y) || (curve.log_y && y <= 0)) continue;
      axes.x.include(x);
      axes.y.include(y);
    }
  }
  axes.x = widened(axes.x);
  if (curve.log_y) {
    if (axes.y.empty()) axes.y = {1, 10};
    // Five percent of the decades on either side, at least a factor 1.1; never down to 0 or up to infinity.
    const double room = std::max(1.1, std::pow(axes.y.high / axes.y.low, 0.05));
    const double most = std::numeric_limits<double>::max();
    axes.y = {std::max(axes.y.low / room, std::numeric_limits<double>::min()), std::min(axes.y.high * room, most)};
    return axes;
  }
  const bool amounts = axes.y.low >= 0;
  axes.y = widened(axes.y);
  const double room = 0.05 * (axes.y.high - axes.y.low);
  if (std::isfinite(room)) axes.y = {axes.y.low - room, axes.y.high + room};
  if (amounts) axes.y.low = std::max(axes.y.low, 0.0);
  return axes;
}

std::string sparkline(std::span<const double> values, int width) {
  constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t cells = std::min(values.size(), static_cast<std::size_t>(std::max(0, width)));
  std::vector<double> means;
  Range range;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    int count = 0;
    for (std::size_t k = cell * values.size() / cells; k < (cell + 1) * values.size() / cells; ++k) {
      if (!std::isfinite(values[k])) continue;
      sum += values[k];
      ++count;
    }
    means.push_back(sum / count);  // NaN when the group holds no number
    range.include(means.back());
  }
  range = widened(range);
  std::string result;
  for (const double mean : means) {
    const double height = fraction_of(mean, range);
    result += std::isnan(height) ? " " : blocks[std::clamp(static_cast<int>(height * 8), 0, 7)];
  }
  return result;
}

}  // namespace gradus::draw

#include "draw/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gradus::draw {

namespace {

/// 1, 2 or 5 times a power of ten, nearest above `rough`, which is positive and finite.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// `1.50e-07` becomes `1.5e-07`, `2.000` becomes `2`.
std::string without_zeros(const std::string& text) {
  const std::size_t exponent = std::min(text.find('e'), text.size());
  if (text.find('.') >= exponent) return text;
  std::string mantissa = text.substr(0, exponent);
  mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.back() == '.') mantissa.pop_back();
  return mantissa + text.substr(exponent);
}

}  // namespace

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = empty() ? value : std::min(low, value);
  high = std::max(low, std::max(high, value));
}

Range widened(Range range) {
  if (range.empty()) return {0, 1};
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  // Closer than rounding errors of the larger end: no axis could tell the ends apart.
  if (range.high / 2 - range.low / 2 > 1e-12 * size) return range;
  const double room = size < 1e-300 ? 1 : size / 10;
  return {range.low - room, range.high + room};
}

double fraction_of(double value, Range range) { return (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2); }

std::vector<double> nice_ticks(Range range, int count) {
  const double extent = range.high - range.low;
  if (range.empty()) return {};
  if (extent <= 0 || !std::isfinite(extent)) return {range.low, range.high};
  const double step = round_step(extent / std::max(1, count));
  // A tick is `first + i` steps; the bound is relative so that an end on a tick counts in spite of rounding.
  const double first = std::ceil(range.low / step - 1e-6);
  const double last = std::floor(range.high / step + 1e-6);
  const int ticks = std::min(static_cast<int>(last - first) + 1, 4 * std::max(1, count));
  std::vector<double> result;
  for (int i = 0; i < ticks; ++i) {
    const double tick = (first + i) * step;
    result.push_back(tick == 0 ? 0.0 : tick);  // no negative zero
  }
  return result;
}

std::vector<double> log_ticks(Range range, int count) {
  const double low = std::log10(range.low);
  const double high = std::log10(range.high);
  if (high - low < 1) return nice_ticks(range, count);
  const bool dense = high - low < 3;
  const int stride = std::max(1, static_cast<int>(std::ceil((high - low) / std::max(1, count))));
  std::vector<double> result;
  for (int exponent = static_cast<int>(std::floor(low)); exponent <= high; ++exponent) {
    if (exponent % stride != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, exponent);
      const bool inside = tick >= range.low * (1 - 1e-9) && tick <= range.high * (1 + 1e-9);
      if (inside && (factor == 1.0 || dense)) result.push_back(tick);
    }
  }
  return result;
}

std::vector<std::string> tick_labels(std::span<const double> ticks) {
  double size = 0;
  double step = 0;
  bool equal_steps = true;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    size = std::max(size, std::abs(ticks[i]));
    if (i == 0) continue;
    const double gap = ticks[i] - ticks[i - 1];
    equal_steps = equal_steps && (step == 0 || std::abs(gap - step) < 1e-6 * step);
    step = i == 1 ? gap : std::min(step, gap);
  }
  std::vector<std::string> labels;
  if (!(step > 0) || !std::isfinite(step) || !equal_steps) {
    for (const double tick : ticks) labels.push_back(short_number(tick));
    return labels;
  }
  // The step's first digit is the last one that matters; 1e-9 keeps log10(0.001) from falling below -3.
  const int step_exponent = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const int size_exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const bool scientific = size >= 1e7 || size < 1e-3;
  const int decimals = std::clamp(scientific ? size_exponent - step_exponent : -step_exponent, 0, 17);
  for (const double tick : ticks) {
    labels.push_back(!scientific ? fmt::format("{:.{}f}", tick, decimals)
                     : tick == 0 ? "0"
                                 : without_zeros(fmt::format("{:.{}e}", tick, decimals)));
  }
  return labels;
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (std::isnan(value)) return "nan";  // some NaN print as -nan
  return fmt::format("{:.4g}", value);
}

}  // namespace gradus::draw

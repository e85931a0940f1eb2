#pragma once

#include <span>
#include <string>
#include <vector>

namespace gradus::draw {

/// A closed interval of finite numbers; `low > high` means that there is nothing in it.
struct Range {
  double low = 1, high = 0;
  /// Nothing was included yet.
  bool empty() const { return !(low <= high); }
  /// Grows to hold `value`; what is not finite is ignored.
  void include(double value);
};

/// The same range, made non-degenerate: a single value gets room on both sides, an empty range becomes [0, 1].
Range widened(Range range);

/// Where `value` lies between `low` (0) and `high` (1), without overflow; NaN for NaN.
double fraction_of(double value, Range range);

/// About `count` round numbers (1, 2 or 5 times a power of ten) inside the range, equally spaced and increasing.
std::vector<double> nice_ticks(Range range, int count);

/// Round numbers for a logarithmic axis: powers of ten, thinned out to about `count`; 2 and 5 join them when the range
/// is short, and below one decade the ticks are those of a linear axis. The range must be positive.
std::vector<double> log_ticks(Range range, int count);

/// The ticks as text with the same number of decimals each (`0.0 0.5 1.0`), scientific when too large or too small.
std::vector<std::string> tick_labels(std::span<const double> ticks);

/// A number for people: four significant digits, no trailing zeros (`0.1235`, `12`, `3e-05`, `nan`).
std::string short_number(double value);

}  // namespace gradus::draw

#include "core/tensor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>

// Follows NumPy's array2string with its defaults, digit for digit (numpy/_core/arrayprint.py): at most 8 decimals and
// no more than the numbers need, one format for all elements of an array, lines of at most 75 characters, and `...`
// beyond 1000 elements.

namespace gradus {
namespace {

constexpr int decimals = 8, edge = 3;
constexpr std::size_t line_width = 75;
constexpr std::int64_t summary_above = 1000;

/// Which indices of an axis are printed: all of them, or three at each end with `...` between.
struct Shown {
  std::int64_t n;
  bool cut;
  Shown(std::int64_t extent, bool summarise) : n(extent), cut(summarise && extent > 2 * edge) {}
  std::int64_t count() const { return cut ? 2 * edge : n; }
  std::int64_t index(std::int64_t i) const { return cut && i >= edge ? n - 2 * edge + i : i; }
  bool gap_before(std::int64_t i) const { return cut && i == edge; }
};

/// Calls f with each printed element.
template <class T, class F>
void each_shown(const T* x, const Layout& layout, int axis, bool summarise, F&& f) {
  if (axis == layout.shape.rank()) return f(*x);
  const Shown shown(layout.shape[axis], summarise);
  for (std::int64_t i = 0; i < shown.count(); ++i)
    each_shown(x + shown.index(i) * layout.strides[axis], layout, axis + 1, summarise, f);
}

/// `value` in the fewest digits that read back as the same number, but no more than `decimals` after the point.
template <class T>
std::string shortest(T value, std::chars_format format) {
  char buffer[512];  // the largest double has 309 digits
  const auto size = [&](std::to_chars_result result) { return static_cast<std::size_t>(result.ptr - buffer); };
  std::string text(buffer, size(std::to_chars(buffer, buffer + sizeof buffer, value, format)));
  const auto decimals_of = [](const std::string& number) {
    const std::size_t point = number.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(std::min(number.find('e'), number.size()) - point) - 1;
  };
  if (decimals_of(text) <= decimals) return text;
  text.assign(buffer, size(std::to_chars(buffer, buffer + sizeof buffer, value, format, decimals)));
  const std::size_t end = std::min(text.find('e'), text.size()), last = text.find_last_not_of('0', end - 1);
  return text.erase(last + 1, end - last - 1);  // rounding may have left zeros; the point stays
}

/// A number taken apart: `-12`, `5`, `e-05`; the last is empty without an exponent.
struct Parts {
  std::string whole, fraction, exponent;
  explicit Parts(const std::string& text) {
    const std::size_t e = std::min(text.find('e'), text.size()), point = std::min(text.find('.'), e);
    whole = text.substr(0, point);
    if (point < e) fraction = text.substr(point + 1, e - point - 1);
    exponent = text.substr(e);
  }
};

/// What is printed without a decimal point: integers, truth values, nan and inf.
template <class T>
std::string word(T value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "True" : "False";
  else if constexpr (std::is_floating_point_v<T>) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  else return fmt::format("{}", value);
}

/// The one format of all elements of a tensor, found by looking at those that are printed.
template <class T>
class ElementFormat {
 public:
  template <class Each>
  explicit ElementFormat(const Each& each) {
    if constexpr (std::is_floating_point_v<T>) measure_reals(each);
    else if constexpr (std::is_same_v<T, bool>) left_ = std::string_view("False").size();
    else each([&](T value) { left_ = std::max(left_, word(value).size()); });
  }

  std::string operator()(T value) const {
    if constexpr (!std::is_floating_point_v<T>) {
      return fmt::format("{:>{}}", word(value), left_);
    } else {
      if (!std::isfinite(value)) return fmt::format("{:>{}}", word(value), left_ + 1 + right_ + exponent_);
      if (format_ == std::chars_format::fixed) {
        const Parts parts(shortest(value, format_));
        return fmt::format("{:>{}}.{:<{}}", parts.whole, left_, parts.fraction, right_);
      }
      const Parts parts(fmt::format("{:.{}e}", value, right_));
      return fmt::format("{:>{}}.{}{}", parts.whole, left_, parts.fraction, wide_exponent(parts.exponent));
    }
  }

 private:
  template <class Each>
  void measure_reals(const Each& each) {
    T largest = 0, smallest = std::numeric_limits<T>::infinity();
    each([&](T value) {
      if (!std::isfinite(value) || value == 0) return;
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
    });
    constexpr T long_whole =
        std::is_same_v<T, float> ? T(1e6) : T(1e8);  // up to here all digits of a whole number are known
    if (largest > 0 && (largest >= long_whole || smallest < T(1e-4) || largest / smallest > 1000))
      format_ = std::chars_format::scientific;
    each([&](T value) {
      if (!std::isfinite(value)) return;
      const Parts parts(shortest(value, format_));
      left_ = std::max(left_, parts.whole.size());
      right_ = std::max(right_, parts.fraction.size());
      exponent_ = std::max(exponent_, parts.exponent.size());
    });
    each([&](T value) {  // nan and inf may need more room than the numbers
      if (std::isfinite(value)) return;
      const std::size_t width = word(value).size(), beside = right_ + 1 + exponent_;
      left_ = std::max(left_, width > beside ? width - beside : 0);
    });
  }

  /// `e+05` as wide as the widest: `e+005`.
  std::string wide_exponent(std::string text) const { return text.insert(2, exponent_ - text.size(), '0'); }

  std::chars_format format_ = std::chars_format::fixed;
  std::size_t left_ = 0, right_ = 0, exponent_ = 0;  // characters before the point, after it, and of the exponent
};

/// Collects one row of elements, broken where a line would be too long.
class Row {
 public:
  Row(std::size_t indent, std::size_t width) : indent_(indent), width_(width), line_(indent, ' ') {}
  void add(const std::string& word) {
    if (line_.size() + word.size() > width_ && line_.size() > indent_) {
      text_ += line_.substr(0, line_.find_last_not_of(' ') + 1) + '\n';
      line_.assign(indent_, ' ');
    }
    line_ += word;
  }
  void space() { line_ += ' '; }
  /// Without the indent of the first line, where the brackets stand.
  std::string text() const { return (text_ + line_).substr(indent_); }

 private:
  std::size_t indent_, width_;
  std::string text_, line_;
};

/// Prints the axes from `axis` on: rows side by side, everything else below each other, with a blank line more per
/// further axis.
template <class T>
std::string brackets(const T* x, const Layout& layout, int axis, bool summarise, const ElementFormat<T>& element) {
  const Shown shown(layout.shape[axis], summarise);
  const std::size_t indent = static_cast<std::size_t>(axis) + 1;
  const int axes_left = layout.shape.rank() - axis;
  if (axes_left == 1) {
    Row row(indent, line_width - indent);
    for (std::int64_t i = 0; i < shown.count(); ++i) {
      if (i > 0) row.space();
      if (shown.gap_before(i)) row.add("..."), row.space();
      row.add(element(x[shown.index(i) * layout.strides[axis]]));
    }
    return '[' + row.text() + ']';
  }
  const std::string between = std::string(static_cast<std::size_t>(axes_left) - 1, '\n') + std::string(indent, ' ');
  std::string text = "[";
  for (std::int64_t i = 0; i < shown.count(); ++i) {
    if (i > 0) text += between;
    if (shown.gap_before(i)) text += "..." + between;
    text += brackets(x + shown.index(i) * layout.strides[axis], layout, axis + 1, summarise, element);
  }
  return text + ']';
}

/// A single number, in as many digits as tell it from its neighbours: `3.0`, `0.1`, `1e-05`.
template <class T>
std::string single(T value) {
  if constexpr (!std::is_floating_point_v<T>) {
    return word(value);
  } else {
    if (!std::isfinite(value)) return word(value);
    const T magnitude = std::abs(value);
    constexpr T long_whole = std::is_same_v<T, float> ? T(1e6) : T(1e16);
    const bool fixed = value == 0 || (magnitude >= T(1e-4) && magnitude < long_whole);
    char buffer[64];
    const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
    const std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
}

std::string numbers(const Tensor& x, bool summarise) {
  return dispatch(x.dtype(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    const T* data = x.data<T>();
    if (x.rank() == 0) return single(*data);
    const ElementFormat<T> element([&](auto&& f) { each_shown(data, x.layout(), 0, summarise, f); });
    return brackets(data, x.layout(), 0, summarise, element);
  });
}

}  // namespace

std::string to_string(const Tensor& x) {
  if (!x.defined()) return "undefined tensor";
  const std::string kind = x.dtype() == DType::f32 ? "" : fmt::format("{}", x.dtype());
  if (x.is_ghost()) return fmt::format("ghost of shape {}{}{}", x.shape(), kind.empty() ? "" : ", ", kind);
  const bool summarise = x.numel() > summary_above;
  if (x.numel() > 0 && !summarise) return numbers(x, false) + (kind.empty() ? "" : fmt::format(" ({})", kind));
  return fmt::format("{} (shape {}{}{})", x.numel() == 0 ? "[]" : numbers(x, true), x.shape(), kind.empty() ? "" : ", ",
                     kind);
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

}  // namespace gradus

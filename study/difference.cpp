#include "study/difference.hpp"

#include "core/error.hpp"

#include <cmath>

namespace gradus::study {
namespace {

double distance(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : std::abs(a - b); }

Shape index_of(std::int64_t element, const Shape& shape) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

}  // namespace

Difference difference_of(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) fail("difference_of: shapes {} and {}; they must be equal", a.shape(), b.shape());
  const std::vector<double> left = a.to_vector<double>(), right = b.to_vector<double>();
  Difference d;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double apart = distance(left[i], right[i]);
    if (!std::isnan(d.largest) && (apart > d.largest || std::isnan(apart))) d.largest = apart, worst = i;
    if (std::isfinite(right[i])) d.size = std::max(d.size, std::abs(right[i]));
  }
  if (left.empty()) return d;
  d.at = index_of(static_cast<std::int64_t>(worst), a.shape());
  d.a = left[worst], d.b = right[worst];
  return d;
}

std::string at_text(const Shape& index) { return index.rank() == 0 ? "" : " at " + to_string(index); }

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";  // not -nan
  if (std::abs(x) < 1e15 && x == std::nearbyint(x)) return fmt::format("{:.0f}", x == 0 ? 0.0 : x);
  return fmt::format("{:.4g}", x);
}

}  // namespace gradus::study

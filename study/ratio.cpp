// Factors that people forget, by name: 2, 1/n, sqrt(d).
#include "study/difference.hpp"
#include "study/slip.hpp"

#include <cmath>

namespace gradus::study {
namespace {

bool equal(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

struct Name {
  std::string text;  ///< of a number above 1
  std::string inverse;
  std::string where;
};

bool is_constant(double x, const SlipContext& context) {
  for (const double c : context.constants)
    if (equal(x, c) || equal(x, 1 / c)) return true;
  return false;
}

/// One scale taken for another: sqrt(n)/sqrt(m), where the forward pass scales by one of them.
Name quotient_of_roots(double x, const SlipContext& context) {
  for (const auto& n : context.extents)
    for (const auto& m : context.extents) {
      const double a = std::sqrt(static_cast<double>(n.n)), b = std::sqrt(static_cast<double>(m.n));
      if (m.n > 1 && equal(x, a / b) && (is_constant(a, context) || is_constant(b, context)))
        return {fmt::format("sqrt({})/sqrt({})", n.n, m.n), fmt::format("sqrt({})/sqrt({})", m.n, n.n),
                n.where + ", " + m.where};
    }
  return {};
}

/// The name of x > 1. A square root first when the forward pass scales by it, else the plain number.
Name name_of(double x, const SlipContext& context) {
  const auto root = [&]() -> Name {
    for (const auto& e : context.extents)
      if (e.n > 1 && equal(x, std::sqrt(static_cast<double>(e.n))))
        return {fmt::format("sqrt({})", e.n), fmt::format("1/sqrt({})", e.n), e.where};
    return {};
  };
  if (const Name scaling = root(); is_constant(x, context) && !scaling.text.empty()) return scaling;
  if (equal(x, 2)) return {"2", "1/2", ""};
  for (const auto& e : context.extents)
    if (e.n > 1 && equal(x, static_cast<double>(e.n)))
      return {fmt::format("{}", e.n), fmt::format("1/{}", e.n), e.where};
  if (const Name r = root(); !r.text.empty()) return r;
  if (is_constant(x, context)) return {number_text(x), "1/" + number_text(x), ""};
  return quotient_of_roots(x, context);
}

}  // namespace

std::string name_of_ratio(double ratio, const SlipContext& context, std::string* where) {
  if (!std::isfinite(ratio) || ratio == 0) return "";
  const double size = std::abs(ratio);
  const Name name = name_of(size > 1 ? size : 1 / size, context);
  if (where) *where = name.where;
  if (name.text.empty()) return "";
  return (ratio < 0 ? "-" : "") + (size > 1 ? name.text : name.inverse);
}

}  // namespace gradus::study

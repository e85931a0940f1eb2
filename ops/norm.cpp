#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

// sum_i (|x_i| / unit)^p
template <class T>
double sum_of_powers(const T* x, std::int64_t n, double p, double unit) {
  const auto magnitude = [x, unit](std::int64_t i) { return std::abs(static_cast<double>(x[i])) / unit; };
  if (p == 1) return sum_terms(n, magnitude);
  if (p == 2) return sum_terms(n, [&](std::int64_t i) { return magnitude(i) * magnitude(i); });
  return sum_terms(n, [&](std::int64_t i) { return std::pow(magnitude(i), p); });
}

// In units of the largest magnitude where the powers might overflow or vanish.
template <class T>
double norm_of(const T* x, std::int64_t n, double p) {
  const auto root = [p](double total) { return p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p); };
  const double plain = std::isinf(p) ? 0 : p == 2 ? dot_of(x, x, n) : sum_of_powers(x, n, p, 1);
  if ((plain > 1e-280 && plain < 1e280) || std::isnan(plain)) return root(plain);
  double top = 0;
  for (std::int64_t i = 0; i < n; ++i) top = extreme<true>(top, std::abs(static_cast<double>(x[i])));
  if (std::isinf(p) || top == 0 || !std::isfinite(top)) return top;
  return top * root(sum_of_powers(x, n, p, top));
}

struct Norm {
  double p;
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "norm",
      .math = R"(y = (\sum_i |x_i|^p)^{1/p})",
      .rule = R"(\bar x_i = (y = 0) ? 0 : \bar y \operatorname{sign}(x_i) (|x_i| / y)^{p - 1})",
      .derivation =
          R"(\partial y / \partial x_i = (1/p) (\sum_j |x_j|^p)^{1/p - 1} \cdot p |x_i|^{p - 1} \operatorname{sign}(x_i), and the
first power is y^{1 - p}. For p = 2 that is x_i / y. For p = \infty, y is the largest magnitude, and the elements that reach it share the
cotangent evenly. At x = 0 there is a kink, and the gradient is 0 by convention.)",
      .why_kept = "the rule compares the magnitudes of x with y",
      .numpy =
          "(np.max(np.abs({x}), axis={axis}, keepdims={keepdim}) if {p} == np.inf else "
          "np.sum(np.abs({x}) ** {p}, axis={axis}, keepdims={keepdim}) ** (1 / {p}))"};
  static constexpr Keep keeps = Keep::both;

  Tensor forward(const Tensor& x) const {
    return dispatch_floating("norm", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const double cost = p == 2 ? 0.1 : p == 1 || std::isinf(p) ? 0.5 : 20;
      const auto f = [power = p](const T* row, std::int64_t n) { return norm_of(row, n, power); };
      return reduce_rows<T, T>(x, axis.mask("norm", x.shape()), keepdim, cost, f);
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& x = v.x[0];
    const unsigned mask = axis.mask("norm", x.shape());
    const Tensor y = with_axes(v.y, x.shape(), mask), g = with_axes(v.g, x.shape(), mask);
    const Tensor direction = sign(x.detach());  // constant wherever it has a derivative
    if (p == 1) return {g * direction};
    if (std::isinf(p)) return {direction * share_among_ties(abs(x), y, g, axis)};
    const Tensor flat = eq(y, 0.0), safe = masked_fill(y, flat, 1);
    if (p == 2) return {where(flat, 0.0, x * (g / safe))};
    // An x_i of 0 is taken out before the power, whose derivatives are infinite there for small p.
    return {g * direction * pow(masked_fill(abs(x) / safe, eq(x, 0.0), 1), p - 1)};
  }

  static void samples(Samples& s) {
    s.add(norm, s.randn({3, 4})).for_benchmark();
    s.add(norm, s.randn({2, 3, 4}), 2.0, 1, true);
    s.add(norm, s.randn({3, 4}), 1.0, -1);
    s.add(norm, s.randn({2, 3, 4}), 3.0, Axes{0, 2});
    s.add(norm, s.uniform({5}, 0.5, 2), 0.5);
    s.add(norm, s.randn({3, 4}), INFINITY, 0);
    s.add(norm, s.tensor({0, 2, 0, -1}), 2.0);
    s.add(norm, s.full({2, 3}, 0), 2.0, 1).at_kink();
    s.add(norm, s.full({2, 3}, 0), 1.5, 1).at_kink();
    s.add(norm, s.tensor({2, -2, 1}), INFINITY).at_kink();
    s.add(norm, s.randn({2, 0}), 2.0, 1);
    s.add(norm, s.tensor({-3}, {}));
    s.error("p is 0", norm, s.randn({3}), 0.0);
    s.error("axis 2 is out of range for shape [3, 3]", norm, s.randn({3, 3}), 2.0, 2);
    s.error("dtype i64 is not floating; cast", norm, s.indices({3}, 2));
  }
};

const Register<Norm> registered{norm, {"x", {"p", 2}, {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor norm(const Tensor& x, double p, const Axes& axis, bool keepdim) {
  if (!(p > 0)) fail("norm: p is {}; give a number above 0, or inf for the largest magnitude", p);
  return apply(Norm{p, axis, keepdim}, x);
}

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct StandardDeviation {
  Axes axis;
  double correction;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "std",
      .math = R"(y = (\sum_i (x_i - \mu)^2 / (n - c))^{1/2})",
      .rule = R"(\bar x_i = (y = 0) ? 0 : \bar y (x_i - \mu) / ((n - c) y))",
      .derivation = R"(y is the root of the variance s, and \partial y / \partial s = 1 / (2 y). With
\partial s / \partial x_i = 2 (x_i - \mu) / (n - c) that is (x_i - \mu) / ((n - c) y). Where all x_i are equal y has a kink, and the gradient
is 0 by convention.)",
      .why_kept = "the rule needs the deviations of x from its mean, and y",
      .numpy = "np.std({x}, axis={axis}, ddof={correction}, keepdims={keepdim})"};
  static constexpr Keep keeps = Keep::both;

  Tensor forward(const Tensor& x) const {
    return dispatch_floating("std", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return reduce_rows<T, T>(x, axis.mask("std", x.shape()), keepdim, 0.4,
                               [c = correction](const T* row, std::int64_t n) {
                                 return std::sqrt(squares_around(mean_of(row, n), row, n) / degrees_of_freedom(n, c));
                               });
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& x = v.x[0];
    const unsigned mask = axis.mask("std", x.shape());
    const Tensor y = with_axes(v.y, x.shape(), mask), g = with_axes(v.g, x.shape(), mask);
    const Tensor flat = eq(y, 0.0);
    const Tensor slope = g / (masked_fill(y, flat, 1) * degrees_of_freedom(reduced_count(x.shape(), mask), correction));
    return {where(flat, 0.0, slope * (x - mean(x, axis, true)))};
  }
  Grads fused_vjp(const Vjp& v) const {
    const unsigned mask = axis.mask("std", v.x[0].shape());
    return {rule_by_rows(v, mask, 0.4, [c = correction](auto g, auto y, const auto* x, std::int64_t n, auto* dx) {
      if (y == 0) std::fill_n(dx, n, y);
      else scale_deviations(static_cast<double>(g) / (degrees_of_freedom(n, c) * static_cast<double>(y)), x, n, dx);
    })};
  }

  static void samples(Samples& s) {
    s.add(std, s.randn({2, 3, 4}), 1).for_benchmark();
    s.add(std, s.randn({2, 3, 4}), Axes{0, 2}, 0.0);
    s.add(std, s.randn({2, 3, 4}), Axes{0, -1}, 1.0, true);
    s.add(std, s.randn({7}));
    s.add(std, s.full({2, 3}, 0.1), 1).at_kink();
    s.add(std, s.randn({0, 3}), 1);
    s.error("axis 2 is out of range for shape [3, 3]", std, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating; cast", std, s.indices({3}, 2));
  }
};

const Register<StandardDeviation> registered{std, {"x", {"axis", None}, {"correction", 1}, {"keepdim", false}}};

}  // namespace

Tensor std(const Tensor& x, const Axes& axis, double correction, bool keepdim) {
  return apply(StandardDeviation{axis, correction, keepdim}, x);
}

}  // namespace gradus

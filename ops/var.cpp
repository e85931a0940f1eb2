#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct Var {
  Axes axis;
  double correction;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "var",
      .math = R"(y = \sum_i (x_i - \mu)^2 / (n - c))",
      .rule = R"(\bar x_i = \bar y \cdot 2 (x_i - \mu) / (n - c))",
      .derivation =
          R"(\partial y / \partial x_j = 2 \sum_i (x_i - \mu) (\delta_{i j} - 1 / n) / (n - c); the deviations sum to 0, so that only
2 (x_j - \mu) / (n - c) is left.)",
      .why_kept = "the rule needs the deviations of x from its mean",
      .numpy = "np.var({x}, axis={axis}, ddof={correction}, keepdims={keepdim})"};
  static constexpr Keep keeps = Keep::inputs;

  // Two passes: the mean first. The difference of two sums, E[x^2] - E[x]^2, would lose every digit beside a large
  // mean.
  Tensor forward(const Tensor& x) const {
    return dispatch_floating("var", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return reduce_rows<T, T>(x, axis.mask("var", x.shape()), keepdim, 0.4,
                               [c = correction](const T* row, std::int64_t n) {
                                 return squares_around(mean_of(row, n), row, n) / degrees_of_freedom(n, c);
                               });
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& x = v.x[0];
    const unsigned mask = axis.mask("var", x.shape());
    const double factor = 2 / degrees_of_freedom(reduced_count(x.shape(), mask), correction);
    return {with_axes(v.g * factor, x.shape(), mask) * (x - mean(x, axis, true))};
  }
  Grads fused_vjp(const Vjp& v) const {
    const unsigned mask = axis.mask("var", v.x[0].shape());
    return {rule_by_rows(v, mask, 0.4, [c = correction](auto g, auto, const auto* x, std::int64_t n, auto* dx) {
      scale_deviations(static_cast<double>(g) * 2 / degrees_of_freedom(n, c), x, n, dx);
    })};
  }

  static void samples(Samples& s) {
    s.add(var, s.randn({2, 3, 4}), 1).for_benchmark();
    s.add(var, s.randn({2, 3, 4}), Axes{0, 2}, 0.0);
    s.add(var, s.randn({2, 3, 4}), Axes{0, -1}, 1.0, true);
    s.add(var, s.randn({7}));
    s.add(var, s.full({2, 3}, 0.1), 1);
    s.add(var, s.randn({0, 3}), 1);
    s.add(var, s.randn({}), Axes{}, 0.0);
    s.error("axis 2 is out of range for shape [3, 3]", var, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating; cast", var, s.indices({3}, 2));
  }
};

const Register<Var> registered{var, {"x", {"axis", None}, {"correction", 1}, {"keepdim", false}}};

}  // namespace

Tensor var(const Tensor& x, const Axes& axis, double correction, bool keepdim) {
  return apply(Var{axis, correction, keepdim}, x);
}

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct LogSumExp {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "logsumexp",
      .math = R"(y = \log \sum_i e^{x_i})",
      .rule = R"(\bar x_i = \bar y e^{x_i - y})",
      .derivation =
          R"(\partial y / \partial x_i = e^{x_i} / \sum_j e^{x_j} = e^{x_i - y}, the softmax of x. Where every x_i is -\infty,
y is -\infty and the gradient 0.)",
      .why_kept = "the rule needs x and y, from which it forms the softmax",
      .numpy = "np.logaddexp.reduce({x}, axis={axis}, keepdims={keepdim})"};
  static constexpr Keep keeps = Keep::both;

  Tensor forward(const Tensor& x) const {
    return dispatch_floating("logsumexp", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return reduce_rows<T, T>(x, axis.mask("logsumexp", x.shape()), keepdim, 1, [](const T* row, std::int64_t n) {
        const T top = max_of(row, n);
        if (!std::isfinite(top))
          return top;  // all -inf, or some +inf or NaN: the sum is decided, and top - top would be NaN
        return static_cast<T>(top + std::log(sum_of_exp(row, n, top)));
      });
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& x = v.x[0];
    const unsigned mask = axis.mask("logsumexp", x.shape());
    const Tensor y = with_axes(v.y, x.shape(), mask);
    const Tensor finite = masked_fill(y, eq(y, -INFINITY), 0);  // -inf - 0 is -inf, whose exponential is 0
    return {local_product(with_axes(v.g, x.shape(), mask), exp(x - finite))};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {rule_by_rows(v, axis.mask("logsumexp", v.x[0].shape()), 1,
                         [](auto g, auto y, const auto* x, std::int64_t n, auto* dx) {
                           const auto finite = y == -INFINITY ? 0 : y;
                           for (std::int64_t i = 0; i < n; ++i) dx[i] = local_product_of(g, math::exp(x[i] - finite));
                         })};
  }

  static void samples(Samples& s) {
    s.add(logsumexp, s.randn({2, 5}), -1).for_benchmark();
    s.add(logsumexp, s.randn({2, 3, 4}), Axes{0, 2}, true);
    s.add(logsumexp, s.randn({3, 4}));
    s.add(logsumexp, s.full({2, 3}, 1e4), 1);
    s.add(logsumexp, s.tensor({-INFINITY, -INFINITY, 1, -INFINITY, 2, 3}, {3, 2}), 1);
    s.add(logsumexp, s.randn({2, 0}), 1);
    s.add(logsumexp, s.randn({}));
    s.add(logsumexp, s.randn({2, 600}), 1);
    s.error("axis 2 is out of range for shape [3, 3]", logsumexp, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating; cast", logsumexp, s.indices({3}, 2));
  }
};

const Register<LogSumExp> registered{logsumexp, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor logsumexp(const Tensor& x, const Axes& axis, bool keepdim) { return apply(LogSumExp{axis, keepdim}, x); }

}  // namespace gradus

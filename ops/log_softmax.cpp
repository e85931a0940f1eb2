#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

// Subtracted one after the other: x - (top + log sum) would lose the digits of the logarithm beside a large top.
template <class T>
void log_softmax_row(const T* x, T* y, std::int64_t n) {
  const T top = max_of(x, n);
  const T shift = static_cast<T>(std::log(sum_of_exp(x, n, top)));
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - top) - shift;
}

// dx = g - e^y sum g
template <class T>
void log_softmax_rule(const T* g, const T* y, T* dx, std::int64_t n) {
  const T total = static_cast<T>(sum_of(g, n));
  for (std::int64_t i = 0; i < n; ++i) dx[i] = g[i] - math::exp(y[i]) * total;
}

struct LogSoftmax {
  int axis;
  static constexpr OpInfo info{
      .name = "log_softmax",
      .math = R"(y_i = x_i - \log \sum_j e^{x_j})",
      .rule = R"(\bar x_i = \bar y_i - e^{y_i} \sum_j \bar y_j)",
      .derivation = R"(Along one row \partial y_i / \partial x_j = \delta_{i j} - e^{y_j}, since the derivative of
\log \sum_k e^{x_k} by x_j is the softmax e^{y_j}. So \bar x_j = \sum_i \bar y_i (\delta_{i j} - e^{y_j}) = \bar y_j - e^{y_j} \sum_i \bar y_i.)",
      .why_kept = "the rule needs y, whose exponential is the softmax",
      .numpy = "{x} - np.logaddexp.reduce({x}, axis={axis}, keepdims=True)"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return dispatch_floating("log_softmax", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Rows rows = rows_of(x, 1U << axis);
      Tensor y(rows.x.shape(), x.dtype());
      const T* const from = rows.x.data<T>();
      T* const to = y.fresh_data<T>();
      const std::int64_t n = rows.n;
      for_rows(rows.outer, n, 1, [&](std::int64_t row) { log_softmax_row(from + row * n, to + row * n, n); });
      return from_rows(y, x.shape(), 1U << axis);
    });
  }
  Grads vjp(const Vjp& v) const { return {v.g - exp(v.y) * sum(v.g, axis, keepdim)}; }
  Grads fused_vjp(const Vjp& v) const {
    return {dispatch_floating("log_softmax", v.y.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Rows y = rows_of(v.y, 1U << axis), g = rows_of(v.g, 1U << axis);
      Tensor dx(y.x.shape(), v.y.dtype());
      const T* const ys = y.x.data<T>();
      const T* const gs = g.x.data<T>();
      T* const to = dx.fresh_data<T>();
      const std::int64_t n = y.n;
      for_rows(y.outer, n, 1, [&](std::int64_t row) { log_softmax_rule(gs + row * n, ys + row * n, to + row * n, n); });
      return from_rows(dx, v.y.shape(), 1U << axis);
    })};
  }

  static void samples(Samples& s) {
    s.add(log_softmax, s.randn({2, 5}), -1).for_benchmark();
    s.add(log_softmax, s.randn({3, 4, 2}), 1);
    s.add(log_softmax, s.randn({3, 4}), 0);
    s.add(log_softmax, s.tensor({0, -200}));
    s.add(log_softmax, s.full({2, 3}, 1e4), -1);
    s.add(log_softmax, s.tensor({1, -INFINITY, 2}));
    s.add(log_softmax, s.randn({2, 0}), -1);
    s.add(log_softmax, s.randn({3, 37}));
    s.error("axis 2 is out of range for shape [3, 3]", log_softmax, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating; cast", log_softmax, s.indices({3}, 2));
  }
};

const Register<LogSoftmax> registered{log_softmax, {"x", {"axis", -1}}};

}  // namespace

Tensor log_softmax(const Tensor& x, int axis) {
  return apply(LogSoftmax{checked_axis("log_softmax", x.shape(), axis)}, x);
}

}  // namespace gradus

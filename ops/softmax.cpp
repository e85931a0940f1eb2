#include "core/reduce.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Softmax {
  int axis;
  static constexpr OpInfo info{
      .name = "softmax",
      .math = R"(y_i = e^{x_i} / \sum_j e^{x_j})",
      .rule = R"(\bar x = y \odot (\bar y - \sum_j \bar y_j y_j))",
      .derivation =
          R"(Along one row \partial y_i / \partial x_j = y_i (\delta_{i j} - y_j), the matrix \operatorname{diag}(y) - y y^{T}.
It is symmetric, so \bar x_j = \sum_i \bar y_i y_i (\delta_{i j} - y_j) = y_j (\bar y_j - \sum_i \bar y_i y_i).)",
      .why_kept = "the rule needs y, not x",
      .numpy = "softmax({x}, axis={axis})"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return dispatch_floating("softmax", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Rows rows = rows_of(x, 1U << axis);
      Tensor y(rows.x.shape(), x.dtype());
      const T* const from = rows.x.data<T>();
      T* const to = y.fresh_data<T>();
      const std::int64_t n = rows.n;
      for_rows(rows.outer, n, 1.0, [&](std::int64_t row) { softmax_row(from + row * n, to + row * n, n); });
      return from_rows(y, x.shape(), 1U << axis);
    });
  }
  // e^{x_i - max} / sum: the largest exponent is 0, so nothing overflows. A row of -inf alone gives NaN, as 0/0.
  template <class T>
  static void softmax_row(const T* x, T* y, std::int64_t n) {
    const T top = max_of(x, n);
    for (std::int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i] - top);
    const T inverse = static_cast<T>(1 / sum_of(y, n));
    for (std::int64_t i = 0; i < n; ++i) y[i] *= inverse;
  }

  Grads vjp(const Vjp& v) const { return {v.y * (v.g - sum(v.g * v.y, axis, keepdim))}; }

  // dx = y (g - sum g y)
  Grads fused_vjp(const Vjp& v) const {
    return {dispatch_floating("softmax", v.y.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Rows y_rows = rows_of(v.y, 1U << axis), g_rows = rows_of(v.g, 1U << axis);
      Tensor dx(y_rows.x.shape(), v.y.dtype());
      const std::int64_t n = y_rows.n;
      const T* const y = y_rows.x.data<T>();
      const T* const g = g_rows.x.data<T>();
      T* const to = dx.fresh_data<T>();
      for_rows(y_rows.outer, n, 0.5, [&](std::int64_t row) {
        const T* const yr = y + row * n;
        const T* const gr = g + row * n;
        T* const out = to + row * n;
        const T inner = static_cast<T>(dot_of(gr, yr, n));
        for (std::int64_t i = 0; i < n; ++i) out[i] = yr[i] * (gr[i] - inner);
      });
      return from_rows(dx, v.y.shape(), 1U << axis);
    })};
  }

  static void samples(Samples& s) {
    s.add(softmax, s.randn({2, 5}), -1).for_benchmark();
    s.add(softmax, s.randn({3, 4, 2}), 1);
    s.add(softmax, s.randn({3, 4}), 0);
    s.add(softmax, s.full({2, 3}, 1e4), -1);
    s.add(softmax, s.randn({2, 0}), -1);
    s.add(softmax, s.randn({3, 37}));
    s.error("axis 2 is out of range for shape [3, 3]", softmax, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating", softmax, s.indices({3}, 2));
  }
};

const Register<Softmax> registered{softmax, {"x", {"axis", -1}}};

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return apply(Softmax{checked_axis("softmax", x.shape(), axis)}, x); }

}  // namespace gradus

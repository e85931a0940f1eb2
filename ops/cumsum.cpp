#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

// Running sums along one axis, f32 and f64 in double; from the end backwards for the rule.
Tensor running_sum(const Tensor& x, int axis, bool backwards) {
  return dispatch_number("cumsum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows rows = rows_of(x, 1U << axis);
    Tensor y(rows.x.shape(), x.dtype());
    const T* const from = rows.x.data<T>();
    T* const to = y.fresh_data<T>();
    const std::int64_t n = rows.n, step = backwards ? -1 : 1;
    for_rows(rows.outer, n, 1.5, [&](std::int64_t row) {
      const std::int64_t first = row * n + (backwards ? n - 1 : 0);
      std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t> total = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        total += from[first + i * step];
        to[first + i * step] = static_cast<T>(total);
      }
    });
    return from_rows(y, x.shape(), 1U << axis);
  });
}

struct CumSum {
  int axis;
  static constexpr OpInfo info{
      .name = "cumsum",
      .math = R"(y_i = \sum_{j \le i} x_j)",
      .rule = R"(\bar x_j = \sum_{i \ge j} \bar y_i)",
      .derivation = R"(x_j enters y_i with factor 1 for every i \ge j, so its cotangent is the sum of theirs: a
running sum from the end.)",
      .why_kept = "the derivatives are constant",
      .numpy = "np.cumsum({x}, axis={axis})"};

  Tensor forward(const Tensor& x) const { return running_sum(x, axis, false); }
  Grads vjp(const Vjp& v) const { return {flip(cumsum(flip(v.g, axis), axis), axis)}; }
  Grads fused_vjp(const Vjp& v) const { return {running_sum(v.g, axis, true)}; }

  static void samples(Samples& s) {
    s.add(cumsum, s.randn({2, 5})).for_benchmark();
    s.add(cumsum, s.randn({3, 4, 2}), 1);
    s.add(cumsum, s.randn({3, 4}), 0);
    s.add(cumsum, s.randn({2, 0}));
    s.add(cumsum, s.indices({2, 4}, 9), 1);
    s.error("axis 2 is out of range for shape [3, 3]", cumsum, s.randn({3, 3}), 2);
    s.error("cast", cumsum, s.bools({3}));
  }
};

const Register<CumSum> registered{cumsum, {"x", {"axis", -1}}};

}  // namespace

Tensor cumsum(const Tensor& x, int axis) { return apply(CumSum{checked_axis("cumsum", x.shape(), axis)}, x); }

}  // namespace gradus

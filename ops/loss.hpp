#pragma once
#include "core/local.hpp"
#include "core/reduce.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

// What the losses that compare x with a target of its shape share: shapes must match, `term` gives the loss of one
// element, and the reduction folds them. With c the cotangent of one element's loss, every rule is c times a
// derivative.
namespace gradus::loss {

/// Error unless both are floating, of one dtype, and of one shape: losses do not broadcast.
inline void check_pair(const char* op, const Tensor& x, const Tensor& target) {
  operands(op, x, target);
  if (!is_floating(x.dtype())) fail_not_floating(op, x.dtype());
  if (x.shape() != target.shape())
    fail("{}: x has shape {}, the target {}; losses do not broadcast, so reshape one of them", op, x.shape(),
         target.shape());
}

/// The sum of term(x_i, t_i) over contiguous tensors, in double: fixed chunks folded in order.
template <class T, class F>
double sum_terms(const Tensor& x, const Tensor& target, const F& term) {
  constexpr std::int64_t chunk = 8192, block = 512;
  const std::int64_t n = x.numel();
  const T* const a = x.data<T>();
  const T* const b = target.data<T>();
  PoolVector<double> partial(static_cast<std::size_t>((n + chunk - 1) / chunk));
  parallel_for(n, chunk, [&](std::int64_t begin, std::int64_t end) {
    T terms[block];
    double total = 0;
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      for (std::int64_t i = 0; i < count; ++i) terms[i] = term(a[at + i], b[at + i]);
      total += sum_of(terms, count);
    }
    partial[static_cast<std::size_t>(begin / chunk)] = total;
  });
  return sum_of(partial.data(), static_cast<std::int64_t>(partial.size()));
}

/// The loss: term(x_i, t_i) of each element, or their sum or mean. The mean of nothing is NaN.
template <class F>
Tensor fold(const char* op, const Tensor& x, const Tensor& target, Reduction reduction, F term) {
  return dispatch_floating(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto f = [term](T a, T b) { return static_cast<T>(term(a, b)); };
    if (reduction == Reduction::none) return map_broadcast<T>(op, f, x, target);
    double total = sum_terms<T>(packed(x), packed(target), f);
    if (reduction == Reduction::mean) total /= static_cast<double>(x.numel());
    return scalar(total, x.dtype());
  });
}

/// What the mean divides by: the number of elements (1 for the other reductions, and for no elements).
inline double divisor(const Tensor& x, Reduction reduction) {
  return reduction == Reduction::mean ? static_cast<double>(std::max<std::int64_t>(x.numel(), 1)) : 1.0;
}

/// c, differentiable: the cotangent of each element's loss; one number for mean and sum.
inline Tensor cotangent(const Vjp& v, Reduction reduction) {
  return reduction == Reduction::mean ? v.g * (1 / divisor(v.x[0], reduction)) : v.g;
}

/// c * derivative(x_i, t_i) in one kernel: for fused rules.
template <class F>
Tensor gradient(const Vjp& v, Reduction reduction, F derivative) {
  const Tensor &x = v.x[0], &target = v.x[1];
  return dispatch_floating("rule", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (reduction == Reduction::none)
      return map_broadcast<T>(
          "rule", [derivative](T c, T a, T b) { return local_product_of(c, static_cast<T>(derivative(a, b))); }, v.g, x,
          target);
    const T c = *v.g.data<T>() * static_cast<T>(1 / divisor(x, reduction));
    return map_broadcast<T>(
        "rule", [derivative, c](T a, T b) { return local_product_of(c, static_cast<T>(derivative(a, b))); }, x, target);
  });
}

/// The calls and errors that every such loss has: each reduction, no elements, one number, shapes that differ.
template <class F, class... More>
void add_samples(Samples& s, F function, const Tensor& x, const Tensor& target, const More&... more) {
  s.add(function, x, target, more...).for_benchmark();
  s.add(function, x, target, more..., Reduction::sum);
  s.add(function, x, target, more..., Reduction::none);
  s.add(function, s.full({}, -0.7), s.full({}, 0.25), more...);
  s.add(function, s.randn({0, 3}), s.randn({0, 3}), more..., Reduction::sum);
  s.add(function, s.randn({0, 3}), s.randn({0, 3}), more..., Reduction::none);
  s.error("x has shape [2, 1], the target [2]; losses do not broadcast", function, s.randn({2, 1}), s.randn({2}));
  s.error("dtypes f64 and i64 do not mix", function, s.randn({2}), s.indices({2}, 2));
  s.error("dtype i64 is not floating", function, s.indices({2}, 2), s.indices({2}, 2));
}

}  // namespace gradus::loss

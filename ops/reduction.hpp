#pragma once
#include "core/reduce.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

// What the reductions share besides core/reduce.hpp.
namespace gradus {

/// The result of a reduction of a tensor of `shape`, or its cotangent, with the reduced axes back as extents of 1: it
/// broadcasts to `shape`.
inline Tensor with_axes(const Tensor& y, const Shape& shape, unsigned mask) {
  const Shape kept = reduced_shape(shape, mask, true);
  return y.shape() == kept ? y : reshape(y, kept);
}

/// The number of elements that each result of the reduction folds.
inline std::int64_t reduced_count(const Shape& shape, unsigned mask) {
  std::int64_t n = 1;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if ((mask >> axis) & 1U) n *= shape[axis];
  return n;
}

/// Error when there are results but nothing to choose them from.
inline void check_not_empty(const char* op, const Shape& shape, unsigned mask) {
  if (reduced_count(shape, mask) == 0 && reduced_shape(shape, mask, false).numel() != 0)
    fail("{}: nothing to choose from in shape {}: an axis of extent 0 is reduced; give it at least one element", op,
         shape);
}

/// What a sum of squared deviations of n elements is divided by: n - correction, at least 0 (where the variance is
/// NaN).
inline double degrees_of_freedom(std::int64_t n, double correction) {
  return std::max(static_cast<double>(n) - correction, 0.0);
}

/// dx_i = factor (x_i - mean), as var and std have it for one row.
template <class T>
void scale_deviations(double factor, const T* x, std::int64_t n, T* dx) {
  const double mean = mean_of(x, n);
  for (std::int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(factor * (static_cast<double>(x[i]) - mean));
}

/// A fused rule by rows: f(g, y, x, n, dx) writes the gradient of one row of n elements, g and y (0 if not kept) being
/// its cotangent and result. `cost` is nanoseconds per element.
template <class F>
Tensor rule_by_rows(const Vjp& v, unsigned mask, double cost, const F& f) {
  return dispatch_floating("rule", v.g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows rows = rows_of(v.x[0], mask);
    const Tensor g = packed(v.g), y = v.y.is_ghost() ? Tensor{} : packed(v.y);
    Tensor dx(rows.x.shape(), rows.x.dtype());
    const T* const gs = g.data<T>();
    const T* const ys = y.defined() ? y.data<T>() : nullptr;
    const T* const x = rows.x.data<T>();
    T* const to = dx.fresh_data<T>();
    const std::int64_t n = rows.n;
    for_rows(rows.outer, n, cost,
             [&](std::int64_t row) { f(gs[row], ys ? ys[row] : T{0}, x + row * n, n, to + row * n); });
    return from_rows(dx, v.x[0].shape(), mask);
  });
}

// ---- max and min: the same but for the direction

/// The largest (or smallest) elements along the axes of `mask`.
template <bool largest>
Tensor extreme_over(const char* op, const Tensor& x, unsigned mask, bool keepdim) {
  check_not_empty(op, x.shape(), mask);
  return dispatch_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor once = without_repeats(x, mask);
    const Tensor y = reduce_rows<T, T>(once, mask, true, 0.1,
                                       [](const T* row, std::int64_t n) { return extreme_of<largest>(row, n); });
    const Shape shape = reduced_shape(x.shape(), mask, keepdim);
    return Tensor(y.storage(), {shape, contiguous_strides(shape), y.layout().offset}, y.dtype());
  });
}

/// g / (number of ties) where x equals y, 0 elsewhere; y and g have the reduced axes as extents of 1.
inline Tensor share_among_ties(const Tensor& x, const Tensor& y, const Tensor& g, const Axes& axis) {
  const Tensor chosen = eq(x, y);
  return where(chosen, g / cast(sum(chosen, axis, keepdim), g.dtype()), 0.0);
}

/// The same for one row.
template <class T>
void share_among_ties_row(T g, T y, const T* x, std::int64_t n, T* dx) {
  std::int64_t ties = 0;
  for (std::int64_t i = 0; i < n; ++i) ties += x[i] == y;
  const T share = g / static_cast<T>(ties);
  for (std::int64_t i = 0; i < n; ++i) dx[i] = x[i] == y ? share : T{0};
}

/// The positions of the first largest (or smallest) elements along `axis`, or in all of x; a NaN is the first of all.
template <bool largest>
Tensor position_of_extreme(const char* op, const Tensor& x, std::optional<int> axis, bool keepdim) {
  const unsigned mask = axis ? 1U << *axis : every_axis.mask(op, x.shape());
  check_not_empty(op, x.shape(), mask);
  return dispatch_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return reduce_rows<std::int64_t, T>(x, mask, keepdim, 0.3, [](const T* row, std::int64_t n) {
      const T top = extreme_of<largest>(row, n);
      std::int64_t i = 0;
      if (top == top)
        while (row[i] != top) ++i;
      else
        while (row[i] == row[i]) ++i;
      return i;
    });
  });
}

// ---- logarithms of sums of exponentials

/// sum_i e^{x_i - top}, in double.
template <class T>
double sum_of_exp(const T* x, std::int64_t n, T top) {
  constexpr std::int64_t block = 512;
  T e[block];
  double total = 0;
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t m = std::min(block, n - first);
    for (std::int64_t i = 0; i < m; ++i) e[i] = math::exp(x[first + i] - top);
    total += sum_of(e, m);
  }
  return total;
}

}  // namespace gradus

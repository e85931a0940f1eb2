#pragma once
#include "core/reduce.hpp"
#include "ops/ops.hpp"

// What the reductions share besides core/reduce.hpp.
namespace gradus {

/// The result (or its cotangent) of a reduction of a tensor of `shape` with the reduced axes put back as extents of 1, so that it broadcasts.
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

/// Error when there are results but nothing to take them from: a maximum of nothing has no value.
inline void check_not_empty(const char* op, const Shape& shape, unsigned mask) {
  if (reduced_count(shape, mask) == 0 && reduced_shape(shape, mask, false).numel() != 0)
    fail("{}: nothing to choose from in shape {}: a reduced axis has extent 0; give at least one element", op, shape);
}

// ---- max and min: the same but for the direction

/// The largest (or smallest) elements along the axes of `mask`.
template <bool largest>
Tensor extreme_over(const char* op, const Tensor& x, unsigned mask, bool keepdim) {
  check_not_empty(op, x.shape(), mask);
  return dispatch_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y = reduce_rows<T, T>(without_repeats(x, mask), mask, true, 0.1, [](const T* row, std::int64_t n) { return extreme_of<largest>(row, n); });
    const Shape shape = reduced_shape(x.shape(), mask, keepdim);
    return Tensor(y.storage(), {shape, contiguous_strides(shape), y.layout().offset}, y.dtype());
  });
}

/// Their rule: the elements that equal y share its cotangent evenly.
inline Tensor share_among_ties(const Vjp& v, unsigned mask) {
  const Tensor& x = v.x[0];
  const Tensor chosen = eq(x, with_axes(v.y, x.shape(), mask));
  const Tensor ties = cast(sum(chosen, axes_of(mask), true), x.dtype());
  return where(chosen, with_axes(v.g, x.shape(), mask) / ties, 0.0);
}

}  // namespace gradus

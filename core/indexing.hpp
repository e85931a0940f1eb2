#pragma once
#include "core/tensor.hpp"

#include <optional>

// What the ops with i64 indices share: the check, and kernels on tensors seen as [outer, n, inner] around one axis.
namespace gradus {

/// `index` packed and without a node, after checking that it is i64 and that every value lies in [0, n): no value
/// wraps. Error `op: index 7 at position [0, 2] is out of range for 5 rows; use 0 to 4`, `rows` being what is counted.
Tensor checked_index(const char* op, const Tensor& index, std::int64_t n, const char* counted);

/// Error `op: index [2, 2] does not fit x [3, 5]; ...` unless their shapes agree on every axis but `axis`.
void check_index_shape(const char* op, const Tensor& x, const Tensor& index, int axis);

/// y[o, k, :] = x[o, index[k], :], shaped as x with `axis` replaced by the shape of the checked index.
Tensor take_along(const Tensor& x, const Tensor& index, int axis);

/// The adjoint of take_along for x of `shape`: dx[o, i, :] is the sum of g[o, k, :] over the k with index[k] = i, in
/// the order of k, in double. Only rows that occur are visited; those of index `skipped` stay exactly zero.
Tensor take_along_adjoint(const Tensor& g, const Tensor& index, const Shape& shape, int axis,
                          std::optional<std::int64_t> skipped = {});

/// y[o, k, j] = x[o, index[o, k, j], j].
Tensor gather_along(const Tensor& x, const Tensor& index, int axis);

/// y = x (zeros when undefined, of `shape`), then y[o, index[o, k, j], j] += src[o, k, j] in the order of k, in double.
Tensor scatter_along(const Tensor& x, const Shape& shape, const Tensor& index, const Tensor& src, int axis);

}  // namespace gradus

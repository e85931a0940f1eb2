#pragma once
#include "core/axes.hpp"
#include "core/elementwise.hpp"

#include <algorithm>

// What kernels along axes share: rows with the reduced axes last, and sums in a fixed order.
namespace gradus {

/// x seen as a matrix [outer, n]: the axes in `mask` last, in their order; packed (a copy only where the layout asks for one).
struct Rows {
  Tensor x;
  std::int64_t outer = 1;
  std::int64_t n = 1;
};
Rows rows_of(const Tensor& x, unsigned mask);

/// The inverse for results shaped like x: y [outer, n] written by rows is returned as a tensor of x's shape (a permuted view).
Tensor from_rows(const Tensor& y, const Shape& shape, unsigned mask);

/// Sum of n elements. f32 in eight double lanes, f64 in eight lanes of at most 512 terms folded pairwise: the order is fixed.
double sum_of(const float* x, std::int64_t n);
double sum_of(const double* x, std::int64_t n);
/// Sum of products, in the same order and precision.
double dot_of(const float* x, const float* y, std::int64_t n);
double dot_of(const double* x, const double* y, std::int64_t n);

/// The largest element, or NaN when there is one (std::max would keep the other operand); -inf when there is none.
template <class T>
T max_of(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  T lane[lanes];
  for (T& l : lane) l = -std::numeric_limits<T>::infinity();
  const auto larger = [](T a, T b) { return a > b || a != a ? a : b; };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] = larger(lane[l], x[i + l]);
  for (; i < n; ++i) lane[0] = larger(lane[0], x[i]);
  for (std::int64_t l = 1; l < lanes; ++l) lane[0] = larger(lane[0], lane[l]);
  return lane[0];
}

/// Calls f(row) for every row, in parallel when rows are many or long. `cost` is nanoseconds per element.
template <class F>
void for_rows(std::int64_t outer, std::int64_t n, double cost, F&& f) {
  parallel_for(outer, chunk_for(cost * static_cast<double>(std::max<std::int64_t>(n, 1)) + 5), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(row);
  });
}

/// One result per row: y[row] = f(pointer to the row, n), shaped as x without the axes of `mask`.
template <class R, class T, class F>
Tensor reduce_rows(const Tensor& x, unsigned mask, bool keepdim, double cost, F&& f) {
  const Rows rows = rows_of(x, mask);
  Tensor y(reduced_shape(x.shape(), mask, keepdim), dtype_of<R>);
  const T* const from = rows.x.data<T>();
  R* const to = y.fresh_data<R>();
  for_rows(rows.outer, rows.n, cost, [&](std::int64_t row) { to[row] = static_cast<R>(f(from + row * rows.n, rows.n)); });
  return y;
}

}  // namespace gradus

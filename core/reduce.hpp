#pragma once
#include "core/axes.hpp"
#include "core/elementwise.hpp"

#include <algorithm>
#include <cmath>

// What kernels along axes share: rows with the reduced axes last, and sums in a fixed order.
namespace gradus {

/// x seen as a matrix [outer, n]: the axes in `mask` last, in their order; packed (a copy only where the layout asks
/// for one).
struct Rows {
  Tensor x;
  std::int64_t outer = 1;
  std::int64_t n = 1;
};
Rows rows_of(const Tensor& x, unsigned mask);

/// The inverse for results shaped like x: y [outer, n] written by rows is returned as a tensor of x's shape (a permuted
/// view).
Tensor from_rows(const Tensor& y, const Shape& shape, unsigned mask);

/// x cut to one element along the axes of `mask` that only repeat it (stride 0, as `expand` makes them): one is enough
/// for a maximum.
Tensor without_repeats(const Tensor& x, unsigned mask);

/// The sum over the axes of `mask`, divided by `divisor`: f32 and f64 in double in a fixed order, rounded once; i64 and
/// b8 exactly, as i64 (no divisor). Repeated elements are multiplied, not read again; most layouts are summed where
/// they lie.
Tensor sum_over(const Tensor& x, unsigned mask, bool keepdim, double divisor = 1);

namespace detail {

constexpr std::int64_t sum_lanes = 16;

// Lanes of doubles, folded in a fixed order. Two loops of one body: the compiler keeps the lanes of the first in
// registers.
template <class F>
double lane_sum(std::int64_t begin, std::int64_t end, const F& term) {
  double rest = 0;
  std::int64_t i = begin;
  if (end - begin >= sum_lanes) {
    double lane[sum_lanes] = {};
    for (; i + sum_lanes <= end; i += sum_lanes)
      for (std::int64_t l = 0; l < sum_lanes; ++l) lane[l] += term(i + l);
    for (std::int64_t half = sum_lanes / 2; half > 0; half /= 2)
      for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    rest = lane[0];
  }
  for (; i < end; ++i) rest += term(i);
  return rest;
}

template <class F>
double pairwise_sum(std::int64_t begin, std::int64_t end, const F& term) {
  constexpr std::int64_t block = 4096;
  const std::int64_t n = end - begin;
  if (n <= block) return lane_sum(begin, end, term);
  const std::int64_t half = begin + (n / 2 + block - 1) / block * block;
  return pairwise_sum(begin, half, term) + pairwise_sum(half, end, term);
}

}  // namespace detail

/// The sum of term(i), a double, for i in [0, n): in sixteen lanes of at most 256 terms, folded pairwise. The order is
/// fixed.
template <class F>
double sum_terms(std::int64_t n, const F& term) {
  return detail::pairwise_sum(0, n, term);
}

/// Sum of n elements in the order and precision of sum_terms.
double sum_of(const float* x, std::int64_t n);
double sum_of(const double* x, std::int64_t n);
/// Sum of products, in the same order and precision.
double dot_of(const float* x, const float* y, std::int64_t n);
double dot_of(const double* x, const double* y, std::int64_t n);
/// The sum of the elements of x and that of x y, both in one pass: in sixteen lanes of doubles, in a fixed order.
struct SumAndDot {
  double sum = 0, dot = 0;
};
SumAndDot sum_and_dot(const float* x, const float* y, std::int64_t n);
SumAndDot sum_and_dot(const double* x, const double* y, std::int64_t n);
/// Their mean; NaN when there is none. Equal elements have exactly their own value as mean.
double mean_of(const float* x, std::int64_t n);
double mean_of(const double* x, std::int64_t n);
/// Sum of (x_i - center)^2, the second pass of a variance.
double squares_around(double center, const float* x, std::int64_t n);
double squares_around(double center, const double* x, std::int64_t n);

/// The larger (or the smaller) of two, NaN when either is (std::max would keep the other operand).
template <bool largest, class T>
inline T extreme(T a, T b) {
  const T chosen = (largest ? a > b : a < b) ? a : b;  // b when either is NaN
  if constexpr (std::is_floating_point_v<T>) return a != a ? a : chosen;
  else return chosen;
}

/// The largest (or smallest) of n elements, NaN when one is NaN; the identity of `extreme` when n is 0.
template <bool largest, class T>
T extreme_of(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = 32;  // fewer would be unrolled into scalars by GCC 12
  using Limits = std::numeric_limits<T>;
  if (n < lanes) {
    T top = Limits::has_infinity ? (largest ? -Limits::infinity() : Limits::infinity())
                                 : (largest ? Limits::min() : Limits::max());
    for (std::int64_t i = 0; i < n; ++i) top = extreme<largest>(top, x[i]);
    return top;
  }
  T lane[lanes];
  std::copy_n(x, lanes, lane);
  for (std::int64_t i = lanes; i < n; i += lanes) {
    const T* const next = x + std::min(i, n - lanes);  // the last block overlaps the one before it
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] = extreme<largest>(lane[l], next[l]);
  }
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lane[l] = extreme<largest>(lane[l], lane[l + half]);
  return lane[0];
}

/// The largest element, or NaN when there is one; -inf when there is none.
template <class T>
T max_of(const T* x, std::int64_t n) {
  return extreme_of<true>(x, n);
}

/// True when no element is NaN or infinite: x * 0 is 0 for finite x only.
template <class T>
bool all_finite(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  T probe[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) probe[l] += x[i + l] * T{0};
  for (; i < n; ++i) probe[0] += x[i] * T{0};
  T sum = 0;
  for (const T p : probe) sum += p;
  return sum == T{0};
}

/// Asks for the next row while this one is worked on: kernels with several passes over a row leave the memory idle
/// otherwise. Any address will do.
template <class T>
void prefetch_row(const T* x, std::int64_t n) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  if (n > 64 * line) return;  // its later parts would push the earlier ones out
  for (std::int64_t i = 0; i < n; i += line) __builtin_prefetch(x + i);
}

/// Calls f(row) for every row, in parallel when rows are many or long. `cost` is nanoseconds per element.
template <class F>
void for_rows(std::int64_t outer, std::int64_t n, double cost, F&& f) {
  parallel_for(outer, chunk_for(cost * static_cast<double>(std::max<std::int64_t>(n, 1)) + 5),
               [&](std::int64_t begin, std::int64_t end) {
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
  for_rows(rows.outer, rows.n, cost,
           [&](std::int64_t row) { to[row] = static_cast<R>(f(from + row * rows.n, rows.n)); });
  return y;
}

}  // namespace gradus

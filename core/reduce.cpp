#include "core/reduce.hpp"

namespace gradus {

Rows rows_of(const Tensor& x, unsigned mask) {
  Layout layout{{}, {}, x.layout().offset};
  Rows rows;
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (((mask >> axis) & 1U) != static_cast<unsigned>(reduced)) continue;
      layout.shape.push_back(x.shape()[axis]);
      layout.strides.push_back(x.strides()[axis]);
      (reduced ? rows.n : rows.outer) *= x.shape()[axis];
    }
  rows.x = packed(Tensor(x.storage(), layout, x.dtype()));
  return rows;
}

Tensor from_rows(const Tensor& y, const Shape& shape, unsigned mask) {
  Shape order;
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < shape.rank(); ++axis)
      if (((mask >> axis) & 1U) == static_cast<unsigned>(reduced)) order.push_back(axis);
  Layout layout{shape, shape, y.layout().offset};
  std::int64_t step = 1;
  for (int i = order.rank() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(order[i]);
    layout.strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return Tensor(y.storage(), layout, y.dtype());
}

namespace {

constexpr std::int64_t lanes = 8;

// Lanes of doubles, folded in a fixed order; `term(i)` is the i-th summand.
template <class F>
double lane_sum(std::int64_t begin, std::int64_t end, const F& term) {
  double lane[lanes] = {};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] += term(i + l);
  for (std::int64_t l = 0; i < end; ++i, ++l) lane[l] += term(i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

template <class F>
double pairwise_sum(std::int64_t begin, std::int64_t end, const F& term) {
  constexpr std::int64_t block = 4096;
  const std::int64_t n = end - begin;
  if (n <= block) return lane_sum(begin, end, term);
  const std::int64_t half = begin + (n / 2 + block - 1) / block * block;
  return pairwise_sum(begin, half, term) + pairwise_sum(half, end, term);
}

template <class T>
double sum_elements(const T* x, std::int64_t n) {
  return pairwise_sum(0, n, [x](std::int64_t i) { return static_cast<double>(x[i]); });
}
template <class T>
double sum_products(const T* x, const T* y, std::int64_t n) {
  return pairwise_sum(0, n, [x, y](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}

}  // namespace

double sum_of(const float* x, std::int64_t n) { return sum_elements(x, n); }
double sum_of(const double* x, std::int64_t n) { return sum_elements(x, n); }
double dot_of(const float* x, const float* y, std::int64_t n) { return sum_products(x, y, n); }
double dot_of(const double* x, const double* y, std::int64_t n) { return sum_products(x, y, n); }

}  // namespace gradus

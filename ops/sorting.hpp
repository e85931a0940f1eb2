#pragma once
#include "core/reduce.hpp"

// The order behind sort, topk and their arg-ops: NaN above every number (so ascending order ends with it, as in NumPy,
// and the largest element is NaN, as max has it); equal elements in the order of their positions.
namespace gradus {

/// The first k elements of each row along `axis` in that order, and their positions; shaped as x with k on that axis.
struct Ordered {
  Tensor values;
  Tensor positions;
};

namespace detail {

template <class T>
struct Item {
  T value{};
  std::int64_t position = 0;
};

template <class T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || (a != a && b == b);
  else return a > b;
}

template <class T>
void order_row(const T* x, std::int64_t n, std::int64_t k, bool descending, T* values, std::int64_t* positions) {
  PoolVector<Item<T>> items(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) items[static_cast<std::size_t>(i)] = {x[i], i};
  const auto sort_by = [&](const auto& before) {
    if (k == n) std::sort(items.begin(), items.end(), before);
    else std::partial_sort(items.begin(), items.begin() + k, items.end(), before);
  };
  using I = Item<T>;
  if (descending)
    sort_by([](const I& a, const I& b) {
      return above(a.value, b.value) || (!above(b.value, a.value) && a.position < b.position);
    });
  else
    sort_by([](const I& a, const I& b) {
      return above(b.value, a.value) || (!above(a.value, b.value) && a.position < b.position);
    });
  for (std::int64_t i = 0; i < k; ++i) {
    values[i] = items[static_cast<std::size_t>(i)].value;
    positions[i] = items[static_cast<std::size_t>(i)].position;
  }
}

}  // namespace detail

inline Ordered order_along(const char* op, const Tensor& x, int axis, std::int64_t k, bool descending) {
  return dispatch_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows rows = rows_of(x, 1U << axis);
    Tensor values({rows.outer, k}, x.dtype()), positions({rows.outer, k}, DType::i64);
    const T* const from = rows.x.data<T>();
    T* const to = values.fresh_data<T>();
    std::int64_t* const at = positions.fresh_data<std::int64_t>();
    for_rows(rows.outer, rows.n, 20, [&](std::int64_t row) {
      detail::order_row(from + row * rows.n, rows.n, k, descending, to + row * k, at + row * k);
    });
    Shape shape = x.shape();
    shape[axis] = k;
    return Ordered{from_rows(values, shape, 1U << axis), from_rows(positions, shape, 1U << axis)};
  });
}

/// k as topk takes it, and its axis. Error unless 0 <= k <= extent.
inline int checked_topk(const char* op, const Shape& shape, std::int64_t k, int axis) {
  const int checked = checked_axis(op, shape, axis);
  if (k < 0 || k > shape[checked])
    fail("{}: k is {}, but axis {} of shape {} has {} elements; give k from 0 to {}", op, k, axis, shape,
         shape[checked], shape[checked]);
  return checked;
}

}  // namespace gradus

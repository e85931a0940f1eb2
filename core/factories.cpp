#include "core/elementwise.hpp"
#include "core/tensor.hpp"

#include <cmath>

namespace gradus {

Tensor empty(const Shape& shape, DType dtype) { return Tensor(shape, dtype); }
Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }

Tensor full(const Shape& shape, double value, DType dtype) {
  Tensor y(shape, dtype);
  fill_fresh(y, value);
  return y;
}

Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

Tensor arange(double start, double stop, double step, DType dtype) {
  if (step == 0 || !std::isfinite(start + stop + step))
    fail("arange: start {}, stop {}, step {}; give finite numbers and a step that is not 0", start, stop, step);
  const auto n = static_cast<std::int64_t>(std::max(0.0, std::ceil((stop - start) / step)));
  Tensor y({n}, dtype);
  dispatch_number("arange", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = y.fresh_data<T>();
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(start + static_cast<double>(i) * step);
  });
  return y;
}

Tensor eye(std::int64_t n, DType dtype) {
  Tensor y = zeros({n, n}, dtype);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = y.fresh_data<T>();
    for (std::int64_t i = 0; i < n; ++i) to[i * n + i] = static_cast<T>(1);
  });
  return y;
}

Tensor tensor(std::span<const double> values, const Shape& shape, DType dtype) {
  if (static_cast<std::int64_t>(values.size()) != shape.numel())
    fail("tensor: {} values for shape {}, which holds {}", values.size(), shape, shape.numel());
  Tensor y(shape, dtype);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = y.fresh_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  });
  return y;
}

Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype) {
  return tensor(std::span(values.begin(), values.size()), shape, dtype);
}

Tensor tensor(std::initializer_list<double> values, DType dtype) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype) {
  std::vector<double> values;
  const std::size_t columns = rows.size() ? rows.begin()->size() : 0;
  for (const auto& row : rows) {
    if (row.size() != columns) fail("tensor: rows of {} and {} values; give rows of one length", columns, row.size());
    values.insert(values.end(), row.begin(), row.end());
  }
  return tensor(values, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)}, dtype);
}

Tensor indices(std::span<const std::int64_t> values, const Shape& shape) {
  if (static_cast<std::int64_t>(values.size()) != shape.numel())
    fail("indices: {} values for shape {}, which holds {}", values.size(), shape, shape.numel());
  Tensor y(shape, DType::i64);
  std::copy(values.begin(), values.end(), y.fresh_data<std::int64_t>());
  return y;
}

Tensor indices(std::initializer_list<std::int64_t> values) {
  return indices(std::span(values.begin(), values.size()), {static_cast<std::int64_t>(values.size())});
}

void assign(Tensor& y, const Tensor& x) {
  y.prepare_write("assign");
  const Layout source = broadcast_to("assign", x.layout(), y.shape());
  const Tensor from(x.storage(), source, x.dtype());
  dispatch(y.dtype(), [&](auto to) {
    dispatch(x.dtype(), [&](auto zero) {
      using To = decltype(to);
      using From = decltype(zero);
      map_into<To>([](From v) { return static_cast<To>(v); }, y, from);
    });
  });
}

Tensor& update_in_place(const char* op, Tensor& x, const Operand& b,
                        Tensor (*function)(const Operand&, const Operand&)) {
  x.prepare_write(op);
  const Tensor y = function(x.detach(), b.tensor() ? Operand(*b.tensor()) : b);
  if (y.shape() != x.shape())
    fail("{}: the result has shape {}, larger than {}; write x = x ... to make a new tensor", op, y.shape(), x.shape());
  assign(x, y);
  return x;
}

void fill(Tensor& y, double value) {
  y.prepare_write("fill");
  fill_fresh(y, value);
}

void fill_fresh(Tensor& y, double value) {
  dispatch(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T v = static_cast<T>(value);
    map_into<T>([v] { return v; }, y);
  });
}

}  // namespace gradus

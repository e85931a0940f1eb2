#include "core/shape.hpp"

#include <algorithm>

namespace gradus {

void Shape::too_deep() { fail("shape: more than {} axes; merge some with reshape", max_rank); }

std::int64_t Shape::overflowed_numel() const {
  if (std::find(begin(), end(), 0) != end()) return 0;
  fail("shape: {} has more than 2^63 elements; use smaller extents", *this);
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i] > 0 ? shape[i] : 1;
  }
  return strides;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", ")); }

int checked_axis(const char* op, const Shape& shape, int axis) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank) {
    if (rank == 0) fail("{}: axis {} is out of range for shape []; a scalar has no axes", op, axis);
    fail("{}: axis {} is out of range for shape {}; use {} to {}", op, axis, shape, -rank, rank - 1);
  }
  return axis < 0 ? axis + rank : axis;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int lead = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    std::int64_t& n = out[lead + i];
    if (n == 1) n = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != n)
      fail("{}: shapes {} and {} do not broadcast: axis {} has extents {} and {}; make them equal or one of them 1", op,
           a, b, i - shorter.rank(), a[a.rank() - shorter.rank() + i], b[b.rank() - shorter.rank() + i]);
  }
  return out;
}

Layout broadcast_to(const char* op, const Layout& layout, const Shape& shape) {
  const int lead = shape.rank() - layout.shape.rank();
  if (lead < 0) fail("{}: shape {} does not expand to {}; it has more axes", op, layout.shape, shape);
  Layout out{shape, shape, layout.offset};
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t n = i < lead ? 1 : layout.shape[i - lead];
    if (n == shape[i]) out.strides[i] = i < lead ? 0 : layout.strides[i - lead];
    else if (n == 1) out.strides[i] = 0;
    else
      fail("{}: shape {} does not expand to {}: axis {} has extent {}, not 1; only axes of extent 1 repeat", op,
           layout.shape, shape, i - shape.rank(), n);
  }
  return out;
}

}  // namespace gradus

#pragma once
#include "core/elementwise.hpp"
#include "core/tensor_list.hpp"

// What the ops share that move elements without computing: parts of tensors as layouts, and the copy between them.
namespace gradus {

/// y's elements read (or, for a tensor just made, written) by another layout.
inline Tensor part_of(const Tensor& y, const Layout& layout) { return Tensor(y.storage(), layout, y.dtype()); }

/// to <- x for a part of a tensor just made: equal shapes and dtypes, any layouts.
inline void copy_into(Tensor to, const Tensor& x) {
  dispatch(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T>([](T v) { return v; }, to, x);
  });
}

/// The layout of elements start, start + step, ... (`count` of them) of one axis.
inline Layout strided_part(Layout x, int axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) {
  if (count > 0) x.offset += start * x.strides[axis];
  if (count > 1) x.strides[axis] *= step;
  x.shape[axis] = count;
  return x;
}

/// A zero tensor of `shape` with g written where `layout_of` finds its part: the adjoint of a view, in one pass.
template <class F>
Tensor placed_in_zeros(const Tensor& g, const Shape& shape, F&& layout_of) {
  Tensor dx = zeros(shape, g.dtype());
  copy_into(part_of(dx, layout_of(dx.layout())), g);
  return dx;
}

/// Error for an empty list, an undefined tensor in it, or several dtypes.
inline void check_list(const char* op, TensorList tensors) {
  if (tensors.size() == 0) fail("{}: the list is empty; give at least one tensor", op);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (!tensors[k].defined()) fail("{}: tensor {} of the list is undefined; give every tensor", op, k);
    if (tensors[k].dtype() != tensors[0].dtype())
      fail("{}: dtypes {} and {} do not mix; cast tensor {}", op, tensors[0].dtype(), tensors[k].dtype(), k);
  }
}

/// Shape seen as [outer, n, inner] around an axis.
inline Shape around(const Shape& shape, int axis, std::int64_t n) {
  Shape three{1, n, 1};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) three[i < axis ? 0 : 2] *= shape[i];
  return three;
}

}  // namespace gradus

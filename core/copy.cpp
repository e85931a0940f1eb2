#include "core/elementwise.hpp"

namespace gradus {
namespace {

constexpr std::int64_t tile = 32;

/// y[r, c] <- x[r, c] for one tile, x dense along r and y along c: through a buffer, so that both sides move whole
/// cache lines.
template <class T>
void copy_tile(const T* x, std::int64_t x_column, T* y, std::int64_t y_row, std::int64_t rows, std::int64_t columns) {
  T buffer[tile][tile];
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) buffer[r][c] = x[r + c * x_column];
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(buffer[r], columns, y + r * y_row);
}

/// The axis along which x is dense, where that is another than y's (the last) and both are long; else -1.
int transposed_axis(const Loop<2>& loop) {
  const int last = loop.shape.rank() - 1;
  if (last < 1 || loop.shape[last] < 8 || loop.strides[1][last] <= 1) return -1;
  for (int axis = 0; axis < last; ++axis)
    if (loop.strides[1][axis] == 1 && loop.shape[axis] >= 8) return axis;
  return -1;
}

/// Strips of 32 rows along the dense axis of x, for every index of the axes that are neither.
template <class T>
void copy_transposed(const Loop<2>& loop, int axis, const T* x, T* y) {
  const int last = loop.shape.rank() - 1;
  const std::int64_t n = loop.shape[axis], columns = loop.shape[last], strips = (n + tile - 1) / tile;
  const std::int64_t x_column = loop.strides[1][last], y_row = loop.strides[0][axis];
  parallel_for(loop.numel / (n * columns) * strips, chunk_for(1.0 * tile * static_cast<double>(columns)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t at = begin; at < end; ++at) {
                   const std::int64_t first = at % strips * tile;
                   const T* from = x + first;
                   T* to = y + first * y_row;
                   std::int64_t rest = at / strips;
                   for (int i = last - 1; i >= 0; --i) {
                     if (i == axis) continue;
                     from += rest % loop.shape[i] * loop.strides[1][i];
                     to += rest % loop.shape[i] * loop.strides[0][i];
                     rest /= loop.shape[i];
                   }
                   for (std::int64_t c = 0; c < columns; c += tile)
                     copy_tile(from + c * x_column, x_column, to + c, y_row, std::min(tile, n - first),
                               std::min(tile, columns - c));
                 }
               });
}

}  // namespace

Tensor packed(const Tensor& x) { return x.is_contiguous() ? x.detach() : copy_of(x); }

Tensor copy_of(const Tensor& x) {
  return dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y(x.shape(), x.dtype());
    Loop<2> loop;
    loop.add({&y.layout(), &x.layout()}, x.shape());
    const int axis = loop.numel == 0 ? -1 : transposed_axis(loop);
    if (axis < 0) map_into<T>([](T v) { return v; }, y, x);
    else copy_transposed<T>(loop, axis, x.data<T>(), y.fresh_data<T>());
    return y;
  });
}

}  // namespace gradus

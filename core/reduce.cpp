#include "core/reduce.hpp"

#include <cstring>

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

Tensor without_repeats(const Tensor& x, unsigned mask) {
  Layout layout = x.layout();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (((mask >> axis) & 1U) && layout.strides[axis] == 0 && layout.shape[axis] > 1) layout.shape[axis] = 1;
  return layout.shape == x.shape() ? x.detach() : Tensor(x.storage(), layout, x.dtype());
}

namespace {

template <class T>
double sum_elements(const T* x, std::int64_t n) {
  return sum_terms(n, [x](std::int64_t i) { return static_cast<double>(x[i]); });
}
template <class T>
double sum_products(const T* x, const T* y, std::int64_t n) {
  return sum_terms(n, [x, y](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}
template <class T>
double sum_squares(double center, const T* x, std::int64_t n) {
  return sum_terms(n, [x, center](std::int64_t i) {
    const double d = static_cast<double>(x[i]) - center;
    return d * d;
  });
}

// ---- sum_and_dot

// Eight numbers, as GCC's and Clang's vectors: loops over two kinds of lanes are not vectorised well. (By reference
// only: how such vectors are passed depends on the level.)
template <class T>
using Eight [[gnu::vector_size(8 * sizeof(T))]] = T;

template <class T>
[[gnu::always_inline]] inline void read_eight(const T* x, Eight<double>& y) {
  Eight<T> v;
  std::memcpy(&v, x, sizeof v);
  y = __builtin_convertvector(v, Eight<double>);
}

template <class T>
SumAndDot both_sums(const T* x, const T* y, std::int64_t n) {
  Eight<double> sum[2] = {}, dot[2] = {};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int half = 0; half < 2; ++half) {
      Eight<double> a, b;
      read_eight(x + i + 8 * half, a);
      read_eight(y + i + 8 * half, b);
      sum[half] += a;
      dot[half] += a * b;
    }
  sum[0] += sum[1];
  dot[0] += dot[1];
  SumAndDot total;
  for (int l = 0; l < 8; ++l) total.sum += sum[0][l], total.dot += dot[0][l];
  for (; i < n; ++i) {
    total.sum += static_cast<double>(x[i]);
    total.dot += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  }
  return total;
}

// ---- sum_over

template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

/// x as [outer, n, inner] with the sum over n: `inner` is dense, the others have strides.
struct Block {
  Tensor x;
  std::int64_t outer = 1, n = 1, inner = 1;
  std::int64_t outer_stride = 0, n_stride = 0;
};

/// Axes [first, last) as one: its extent and stride. False where they do not lie evenly.
bool merged(const Layout& layout, int first, int last, std::int64_t& extent, std::int64_t& stride) {
  extent = 1;
  stride = 0;
  for (int axis = last - 1; axis >= first; --axis) {
    const std::int64_t n = layout.shape[axis];
    if (n == 1) continue;
    if (extent == 1) stride = layout.strides[axis];
    else if (layout.strides[axis] != stride * extent) return false;
    extent *= n;
  }
  return true;
}

/// The block where x lies, if the reduced axes are neighbours and every group merges.
bool find_block(const Tensor& x, unsigned mask, Block& b) {
  const auto free = [&](int axis) { return x.shape()[axis] == 1; };  // axes of extent 1 belong to any group
  const auto reduced = [&](int axis) { return ((mask >> axis) & 1U) != 0; };
  int first = 0;
  while (first < x.rank() && (free(first) || !reduced(first))) ++first;
  int last = first;
  while (last < x.rank() && (free(last) || reduced(last))) ++last;
  for (int axis = last; axis < x.rank(); ++axis)
    if (reduced(axis) && !free(axis)) return false;
  std::int64_t inner_stride = 0;
  const Layout& layout = x.layout();
  if (!merged(layout, 0, first, b.outer, b.outer_stride) || !merged(layout, first, last, b.n, b.n_stride) ||
      !merged(layout, last, x.rank(), b.inner, inner_stride))
    return false;
  if (b.inner == 1 && b.n > 1 && b.n_stride != 1 && b.outer_stride == 1) {  // a transposed matrix: its rows are columns
    std::swap(b.inner, b.outer);
    std::swap(inner_stride, b.outer_stride);
  }
  b.x = x.detach();
  return b.inner == 1 ? b.n == 1 || b.n_stride == 1 : inner_stride == 1;
}

Block block_of(const Tensor& x, unsigned mask) {
  Block b;
  if (x.numel() != 0 && find_block(x, mask, b)) return b;
  const Rows rows = rows_of(x, mask);
  return {rows.x, rows.outer, rows.n, 1, rows.n, 1};
}

/// total[j] += sum of x[row, j]: four rows at a time, so that a total is read and written once for them.
template <class T>
void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, Total<T>* total) {
  using A = Total<T>;
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const T* const a = x + row * stride;
    const T* const b = a + stride;
    const T* const c = b + stride;
    const T* const d = c + stride;
    for (std::int64_t j = 0; j < width; ++j)
      total[j] += (static_cast<A>(a[j]) + static_cast<A>(b[j])) + (static_cast<A>(c[j]) + static_cast<A>(d[j]));
  }
  for (; row < rows; ++row)
    for (std::int64_t j = 0; j < width; ++j) total[j] += static_cast<A>(x[row * stride + j]);
}

constexpr std::int64_t tile = 256;  // columns whose totals stay on the stack

/// Totals of up to `tile` columns. Dense narrow rows are read as fewer wide ones, whose parts are folded afterwards.
template <class T>
void sum_tile(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, Total<T>* total) {
  constexpr std::int64_t wide = 64;
  const std::int64_t joined = wide / width;
  if (joined < 2 || stride != width || rows < 2 * joined) {
    std::fill_n(total, width, Total<T>{0});
    return add_rows(x, rows, stride, width, total);
  }
  std::fill_n(total, joined * width, Total<T>{0});
  const std::int64_t full = rows / joined;
  add_rows(x, full, joined * width, joined * width, total);
  for (std::int64_t part = 1; part < joined; ++part)
    for (std::int64_t j = 0; j < width; ++j) total[j] += total[part * width + j];
  add_rows(x + full * joined * width, rows - full * joined, width, width, total);
}

/// The first of `pieces` lists of partial sums becomes their sum, pairwise.
template <class A>
void fold(A* part, std::int64_t pieces, std::int64_t width) {
  for (std::int64_t apart = 1; apart < pieces; apart *= 2)
    for (std::int64_t piece = 0; piece + apart < pieces; piece += 2 * apart)
      for (std::int64_t j = 0; j < width; ++j) part[piece * width + j] += part[(piece + apart) * width + j];
}

/// Columns: n is cut into pieces of rows, inner into tiles; one piece writes its result at once, several leave partial
/// sums.
template <class T, class Finish>
void sum_columns(const Block& b, const Finish& finish) {
  const T* const x = b.x.data<T>();
  const std::int64_t rows = std::max<std::int64_t>(256, 32768 / b.inner);
  const std::int64_t pieces = std::max<std::int64_t>(1, (b.n + rows - 1) / rows), tiles = (b.inner + tile - 1) / tile;
  PoolVector<Total<T>> partial(static_cast<std::size_t>(pieces == 1 ? 0 : b.outer * pieces * b.inner));
  const double cost = 0.15 * static_cast<double>(std::min(rows, b.n) * std::min(tile, b.inner)) + 20;
  parallel_for(b.outer * pieces * tiles, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t j = at % tiles * tile, piece = at / tiles % pieces, outer = at / tiles / pieces;
      const std::int64_t first = piece * rows, width = std::min(tile, b.inner - j);
      const T* const from = x + outer * b.outer_stride + first * b.n_stride + j;
      Total<T> stack[tile];
      Total<T>* const total = pieces == 1 ? stack : partial.data() + (outer * pieces + piece) * b.inner + j;
      sum_tile(from, std::min(rows, b.n - first), b.n_stride, width, stack);
      if (pieces == 1)
        for (std::int64_t i = 0; i < width; ++i) finish(outer * b.inner + j + i, stack[i]);
      else std::copy_n(stack, width, total);
    }
  });
  if (pieces == 1) return;
  for (std::int64_t outer = 0; outer < b.outer; ++outer) {
    Total<T>* const total = partial.data() + outer * pieces * b.inner;
    fold(total, pieces, b.inner);
    for (std::int64_t j = 0; j < b.inner; ++j) finish(outer * b.inner + j, total[j]);
  }
}

template <class T>
Total<T> sum_row(const T* x, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) return sum_of(x, n);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::int64_t>(x[i]);
  return static_cast<Total<T>>(total);
}

/// Rows: long ones in pieces, so that a single one also uses all threads.
template <class T, class Finish>
void sum_rows(const Block& b, const Finish& finish) {
  constexpr std::int64_t longest = 65536;
  const T* const x = b.x.data<T>();
  const std::int64_t pieces = (b.n + longest - 1) / longest;
  if (pieces <= 1)
    return for_rows(b.outer, b.n, 0.1, [&](std::int64_t row) { finish(row, sum_row(x + row * b.outer_stride, b.n)); });
  PoolVector<Total<T>> partial(static_cast<std::size_t>(b.outer * pieces));
  for_rows(b.outer * pieces, longest, 0.1, [&](std::int64_t at) {
    const std::int64_t first = at % pieces * longest;
    partial[static_cast<std::size_t>(at)] =
        sum_row(x + at / pieces * b.outer_stride + first, std::min(longest, b.n - first));
  });
  for (std::int64_t row = 0; row < b.outer; ++row) {
    fold(partial.data() + row * pieces, pieces, 1);
    finish(row, partial[static_cast<std::size_t>(row * pieces)]);
  }
}

}  // namespace

Tensor sum_over(const Tensor& x, unsigned mask, bool keepdim, double divisor) {
  const Tensor once = without_repeats(x, mask);
  const std::int64_t read = once.numel();
  const std::int64_t repeats = read == 0 ? 1 : x.numel() / read;
  const Block b = block_of(once, mask);
  return dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using R = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    Tensor y(reduced_shape(x.shape(), mask, keepdim), dtype_of<R>);
    R* const to = y.fresh_data<R>();
    const auto factor = static_cast<Total<T>>(repeats);
    const auto finish = [=](std::int64_t i, Total<T> total) {
      if constexpr (std::is_floating_point_v<T>) to[i] = static_cast<T>(total * factor / divisor);
      else to[i] = total * factor;
    };
    if (b.inner == 1) sum_rows<T>(b, finish);
    else sum_columns<T>(b, finish);
    return y;
  });
}

// ---- rows

double sum_of(const float* x, std::int64_t n) { return sum_elements(x, n); }
double sum_of(const double* x, std::int64_t n) { return sum_elements(x, n); }
double dot_of(const float* x, const float* y, std::int64_t n) { return sum_products(x, y, n); }
double dot_of(const double* x, const double* y, std::int64_t n) { return sum_products(x, y, n); }

SumAndDot sum_and_dot(const float* x, const float* y, std::int64_t n) { return both_sums(x, y, n); }
SumAndDot sum_and_dot(const double* x, const double* y, std::int64_t n) { return both_sums(x, y, n); }

// Fewer than 2^29 equal f32 add up without rounding in double. In f64 one correction takes the rounding of the first
// sum out again.
double mean_of(const float* x, std::int64_t n) { return sum_of(x, n) / static_cast<double>(n); }
double mean_of(const double* x, std::int64_t n) {
  const double mean = sum_of(x, n) / static_cast<double>(n);
  return mean + sum_terms(n, [x, mean](std::int64_t i) { return x[i] - mean; }) / static_cast<double>(n);
}

double squares_around(double center, const float* x, std::int64_t n) { return sum_squares(center, x, n); }
double squares_around(double center, const double* x, std::int64_t n) { return sum_squares(center, x, n); }

}  // namespace gradus

#include "core/indexing.hpp"

#include "core/parallel.hpp"

#include <type_traits>

namespace gradus {
namespace {

// A shape around one axis: [outer, n, inner].
struct Around {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;
  Around(const Shape& shape, int axis) : n(shape[axis]) {
    for (int i = 0; i < shape.rank(); ++i)
      if (i != axis) (i < axis ? outer : inner) *= shape[i];
  }
};

// Sums run in double for floating elements.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

Shape position_of(std::int64_t at, const Shape& shape) {
  Shape position = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    position[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return position;
}

// Positions ordered by the row they name (counting sort, equal rows in the order of position), and where each row
// begins.
struct ByRow {
  PoolVector<std::int64_t> position;
  PoolVector<std::int64_t> begin;  // of used row u; one more at the end
  PoolVector<std::int64_t> used;   // rows that occur, ascending

  ByRow(const std::int64_t* index, std::int64_t count, std::int64_t rows, std::optional<std::int64_t> skipped) {
    PoolVector<std::int64_t> next(static_cast<std::size_t>(rows), 0);
    const auto at = [&](std::int64_t row) -> std::int64_t& { return next[static_cast<std::size_t>(row)]; };
    for (std::int64_t k = 0; k < count; ++k) ++at(index[k]);
    if (skipped && rows > 0) at(*skipped) = 0;
    std::int64_t total = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (at(row) == 0) continue;
      used.push_back(row);
      begin.push_back(total);
      total += std::exchange(at(row), total);
    }
    begin.push_back(total);
    position.resize(static_cast<std::size_t>(total));
    for (std::int64_t k = 0; k < count; ++k)
      if (!skipped || index[k] != *skipped) position[static_cast<std::size_t>(at(index[k])++)] = k;
  }
};

// to[j] = sum over `count` listed rows of g[row, j], block by block of columns.
template <class T>
void sum_listed_rows(const T* g, const std::int64_t* listed, std::int64_t count, std::int64_t inner, T* to) {
  if (count == 1) {
    std::copy_n(g + listed[0] * inner, inner, to);
    return;
  }
  constexpr std::int64_t block = 256;
  for (std::int64_t first = 0; first < inner; first += block) {
    const std::int64_t width = std::min(block, inner - first);
    Accumulator<T> total[block] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      const T* const from = g + listed[i] * inner + first;
      for (std::int64_t j = 0; j < width; ++j) total[j] += from[j];
    }
    for (std::int64_t j = 0; j < width; ++j) to[first + j] = static_cast<T>(total[j]);
  }
}

// Columns [first, first + width) of one slab [n, inner]. `sums` [n, width] is zero before and after: only places that
// the index names are visited, so that few indices into many places cost little.
template <class T>
void scatter_columns(const T* x, const std::int64_t* index, const T* src, T* y, std::int64_t inner, std::int64_t count,
                     std::int64_t first, std::int64_t width, Accumulator<T>* sums) {
  const auto each = [&](auto&& f) {
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t j = 0; j < width; ++j) {
        const std::int64_t from = k * inner + first + j, i = index[from];
        f(sums[i * width + j], from, i * inner + first + j);
      }
  };
  each([&](Accumulator<T>& sum, std::int64_t from, std::int64_t) { sum += src[from]; });
  each([&](Accumulator<T>& sum, std::int64_t, std::int64_t to) { y[to] = static_cast<T>(x ? x[to] + sum : sum); });
  each([&](Accumulator<T>& sum, std::int64_t, std::int64_t) { sum = 0; });
}

}  // namespace

Tensor checked_index(const char* op, const Tensor& index, std::int64_t n, const char* counted) {
  if (!index.defined()) fail("{}: the index is undefined; give an i64 tensor", op);
  if (index.dtype() != DType::i64)
    fail("{}: the index has dtype {}, not i64; cast it to i64 if its values are whole", op, index.dtype());
  Tensor checked = packed(index);
  const std::int64_t* const values = checked.data<std::int64_t>();
  const std::int64_t count = checked.numel();
  bool good = true;
  for (std::int64_t k = 0; k < count; ++k)
    good &= static_cast<std::uint64_t>(values[k]) < static_cast<std::uint64_t>(n);
  if (good) return checked;
  std::int64_t k = 0;
  while (values[k] >= 0 && values[k] < n) ++k;
  const std::string remedy = n > 0 ? fmt::format("use 0 to {}", n - 1) : std::string("nothing can be chosen");
  fail("{}: index {} at position {} is out of range for {} {}; {}", op, values[k], position_of(k, index.shape()), n,
       counted, remedy);
}

void check_index_shape(const char* op, const Tensor& x, const Tensor& index, int axis) {
  Shape shape = index.shape();
  if (shape.rank() == x.rank()) shape[axis] = x.shape()[axis];
  if (shape != x.shape())
    fail("{}: index {} does not fit x {}; all extents but that of axis {} must agree, use expand or slice", op,
         index.shape(), x.shape(), axis);
}

Tensor take_along(const Tensor& x, const Tensor& index, int axis) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) shape.push_back(x.shape()[i]);
    else
      for (const std::int64_t n : index.shape()) shape.push_back(n);
  }
  const Tensor dense = packed(x);
  Tensor y(shape, x.dtype());
  const Around a(x.shape(), axis);
  const std::int64_t count = index.numel(), inner = a.inner;
  const std::int64_t* const rows = index.data<std::int64_t>();
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = dense.data<T>();
    T* const to = y.fresh_data<T>();
    const double cost = 3 + 0.2 * static_cast<double>(inner);
    parallel_for(a.outer * count, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at)
        std::copy_n(from + (at / count * a.n + rows[at % count]) * inner, inner, to + at * inner);
    });
  });
  return y;
}

Tensor take_along_adjoint(const Tensor& g, const Tensor& index, const Shape& shape, int axis,
                          std::optional<std::int64_t> skipped) {
  Tensor dx = zeros(shape, g.dtype());
  if (dx.numel() == 0) return dx;
  const Tensor dense = packed(g);
  const Around a(shape, axis);
  const std::int64_t count = index.numel(), inner = a.inner;
  const ByRow rows(index.data<std::int64_t>(), count, a.n, skipped);
  const auto used = static_cast<std::int64_t>(rows.used.size());
  if (used == 0) return dx;
  dispatch_floating("gradient", g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = dense.data<T>();
    T* const to = dx.fresh_data<T>();
    const double cost = 5 + 0.3 * static_cast<double>(inner) * static_cast<double>(count) / static_cast<double>(used);
    parallel_for(a.outer * used, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t o = at / used;
        const auto u = static_cast<std::size_t>(at % used);
        sum_listed_rows(from + o * count * inner, rows.position.data() + rows.begin[u],
                        rows.begin[u + 1] - rows.begin[u], inner, to + (o * a.n + rows.used[u]) * inner);
      }
    });
  });
  return dx;
}

Tensor gather_along(const Tensor& x, const Tensor& index, int axis) {
  const Tensor dense = packed(x);
  Tensor y(index.shape(), x.dtype());
  const Around a(x.shape(), axis);
  const std::int64_t count = index.shape()[axis], inner = a.inner;
  const std::int64_t* const rows = index.data<std::int64_t>();
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = dense.data<T>();
    T* const to = y.fresh_data<T>();
    const double cost = 2 + static_cast<double>(inner);
    parallel_for(a.outer * count, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        const T* const slab = from + at / count * a.n * inner;
        for (std::int64_t j = 0; j < inner; ++j) to[at * inner + j] = slab[rows[at * inner + j] * inner + j];
      }
    });
  });
  return y;
}

Tensor scatter_along(const Tensor& x, const Shape& shape, const Tensor& index, const Tensor& src, int axis) {
  const Tensor base = x.defined() ? packed(x) : Tensor{}, added = packed(src);
  Tensor y = x.defined() ? copy_of(x) : zeros(shape, src.dtype());
  if (y.numel() == 0) return y;
  const Around a(shape, axis);
  const std::int64_t count = index.shape()[axis], inner = a.inner;
  const std::int64_t width = std::clamp<std::int64_t>(4096 / a.n, 1, std::min<std::int64_t>(64, inner));
  const std::int64_t blocks = (inner + width - 1) / width;
  const std::int64_t* const rows = index.data<std::int64_t>();
  dispatch_number("scatter_add", src.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = base.defined() ? base.data<T>() : nullptr;
    const T* const more = added.data<T>();
    T* const to = y.fresh_data<T>();
    const double cost = 5 + 4 * static_cast<double>(count) * static_cast<double>(width);
    parallel_for(a.outer * blocks, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      PoolVector<Accumulator<T>> sums(static_cast<std::size_t>(a.n * width), 0);
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t o = at / blocks, first = at % blocks * width, columns = std::min(width, inner - first);
        const std::int64_t slab = o * a.n * inner, part = o * count * inner;
        scatter_columns(from ? from + slab : nullptr, rows + part, more + part, to + slab, inner, count, first, columns,
                        sums.data());
      }
    });
  });
  return y;
}

}  // namespace gradus

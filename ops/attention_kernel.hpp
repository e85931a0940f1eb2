#pragma once
#include "core/gemm.hpp"
#include "core/reduce.hpp"
#include "core/vector_math.hpp"
#include "ops/attention.hpp"

// Weights of a block of query rows, the part that all attention kernels share. Only a block of scores exists at a time:
//
//   forward   S = s Q K^T + B, hidden entries -inf
//             t_i = max_j S_ij,  r_i = 1 / sum_j e^{S_ij - t_i},  A_ij = r_i e^{S_ij - t_i}
//   backward  the same S by the same calls, hence with t and r kept by forward the same A, bit for bit
//
// An entry of exactly -inf (hidden, or by a bias) has weight exactly 0, and what has weight 0 takes no part in any sum:
// see Factor.
namespace gradus::detail {

/// x itself when BLAS takes its rows as they are (dense last axis, rows that do not overlap), else a packed copy.
inline Tensor dense_rows(const Tensor& x) {
  const std::int64_t columns = x.size(-1), row = x.strides()[x.rank() - 2];
  return (columns <= 1 || x.strides().back() == 1) && row >= std::max<std::int64_t>(columns, 1) ? x.detach()
                                                                                                : packed(x);
}

/// A tensor of `shape` whose axes lie in memory in the order of x's, the last one dense. So attention over permuted
/// views of [batch, time, heads, width] gives results in that order, and the way back to it copies nothing.
inline Tensor ordered_like(const Tensor& x, const Shape& shape) {
  if (x.layout().overlaps() || x.is_contiguous()) return Tensor(shape, x.dtype());
  std::array<int, Shape::max_rank> order{};
  const int last = shape.rank() - 1;
  for (int axis = 0; axis < last; ++axis) order[static_cast<std::size_t>(axis)] = axis;
  std::stable_sort(order.begin(), order.begin() + last, [&](int a, int b) { return x.strides()[a] > x.strides()[b]; });
  Strides strides = shape;
  std::int64_t step = shape[last];
  strides[last] = 1;
  for (int i = last - 1; i >= 0; --i) {
    const int axis = order[static_cast<std::size_t>(i)];
    strides[axis] = step;
    step *= shape[axis];
  }
  const Tensor memory(shape, x.dtype());
  return Tensor(memory.storage(), {shape, strides, 0}, x.dtype());
}

/// Query rows [first, first + rows) against keys [begin, begin + columns): all that any of these rows sees.
struct AttentionBlock {
  std::int64_t batch, head, first, rows, begin, columns;
};

/// The arguments of one call, as a kernel reads them.
template <class T>
struct AttentionProblem {
  AttentionShape shape;
  std::optional<Mask::Band> band;
  Heads<const bool> mask;
  Heads<const T> q, k, bias;
  T scale;
  double dropout;
  Dropped dropped;
  T kept_factor;                        // 1 / (1 - dropout)
  std::int64_t block_rows, row_blocks;  // fixed by the shape alone
  std::array<Tensor, 4> owned;          // what mask, q, k and bias point into: callers may pass temporaries

  AttentionProblem(const AttentionShape& s, const Visible& seen, const Tensor& dense_q, const Tensor& dense_k,
                   const Tensor& b, double factor, double p, std::uint64_t key)
      : shape(s),
        band(seen.band),
        mask(scores_view<bool>(seen.mask, s.scores)),
        q(heads_of<T>(dense_q)),
        k(heads_of<T>(dense_k)),
        bias(scores_view<T>(b, s.scores)),
        scale(static_cast<T>(factor)),
        dropout(p),
        dropped(p, key),
        kept_factor(static_cast<T>(p < 1 ? 1 / (1 - p) : 0)),
        block_rows(std::clamp<std::int64_t>(65536 / std::max<std::int64_t>(s.keys, 1) / 16 * 16, 32, 128)),
        row_blocks((s.queries + block_rows - 1) / block_rows),
        owned{seen.mask, dense_q, dense_k, b} {}

  bool hides() const { return band || mask; }
  std::int64_t kv_head(std::int64_t head) const { return head / shape.group(); }
  std::int64_t block_size() const { return std::min(block_rows, shape.queries) * shape.keys; }

  AttentionBlock block(std::int64_t batch, std::int64_t head, std::int64_t index) const {
    AttentionBlock b{batch, head,      index * block_rows, std::min(block_rows, shape.queries - index * block_rows),
                     0,     shape.keys};
    if (band) {
      b.begin = std::clamp<std::int64_t>(b.first + band->low, 0, shape.keys);
      b.columns = std::clamp<std::int64_t>(b.first + b.rows + band->high, b.begin, shape.keys) - b.begin;
    }
    return b;
  }
  AttentionBlock whole_block(std::int64_t batch, std::int64_t head, std::int64_t index) const {
    AttentionBlock b = block(batch, head, index);
    b.begin = 0, b.columns = shape.keys;
    return b;
  }

  // S of the block, [rows, columns], hidden entries -inf.
  void scores(const AttentionBlock& b, T* s) const {
    const T* const qb = q.matrix(b.batch, b.head) + b.first * q.row_stride;
    const T* const kb = k.matrix(b.batch, kv_head(b.head)) + b.begin * k.row_stride;
    gemm<T>(b.rows, b.columns, shape.width, scale, qb, q.row_stride, 1, kb, 1, k.row_stride, T{0}, s, b.columns);
    if (!hides() && !bias) return;
    for (std::int64_t i = 0; i < b.rows; ++i) select_row(b, b.first + i, s + i * b.columns);
  }

  void select_row(const AttentionBlock& b, std::int64_t i, T* s) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    if (bias) {
      const T* const x = bias.matrix(b.batch, b.head) + i * bias.row_stride + b.begin * bias.column_stride;
      for (std::int64_t j = 0; j < b.columns; ++j) s[j] += x[j * bias.column_stride];
    }
    if (mask) {
      const bool* const m = mask.matrix(b.batch, b.head) + i * mask.row_stride + b.begin * mask.column_stride;
      if (mask.column_stride == 1)
        for (std::int64_t j = 0; j < b.columns; ++j) s[j] = m[j] ? s[j] : hidden;
      else
        for (std::int64_t j = 0; j < b.columns; ++j) s[j] = m[j * mask.column_stride] ? s[j] : hidden;
    }
    if (band) {
      const std::int64_t low = std::clamp<std::int64_t>(i + band->low - b.begin, 0, b.columns);
      const std::int64_t high = std::clamp<std::int64_t>(i + band->high + 1 - b.begin, low, b.columns);
      std::fill(s, s + low, hidden);
      std::fill(s + high, s + b.columns, hidden);
    }
  }

  /// A of the block (before dropout), [rows, columns]; t and r of each row go into `statistics` [rows, 2].
  void weights(const AttentionBlock& b, T* a, T* statistics) const {
    scores(b, a);
    const std::int64_t n = b.columns;
    for (std::int64_t i = 0; i < b.rows; ++i, a += n, statistics += 2) {
      statistics[0] = max_of(a, n);
      exponentials(a, n, statistics[0]);
      const double total = sum_of(a, n);
      statistics[1] = static_cast<T>(total == 0 ? 0 : 1 / total);  // 0: nothing to attend
      normalise(a, n, statistics[1]);
    }
  }
  /// The same A from the statistics that were kept.
  void weights_again(const AttentionBlock& b, T* a, const T* statistics) const {
    scores(b, a);
    const std::int64_t n = b.columns;
    for (std::int64_t i = 0; i < b.rows; ++i, a += n, statistics += 2) {
      exponentials(a, n, statistics[0]);
      normalise(a, n, statistics[1]);
    }
  }
  // e^{s_j - top}, 0 for an entry of -inf; so a row of nothing else, whose top is -inf too, is 0.
  static void exponentials(T* s, std::int64_t n, T top) {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    for (std::int64_t j = 0; j < n; ++j) s[j] = s[j] == hidden ? T{0} : math::exp(s[j] - top);
  }

  // a_j r, where 0 stays 0 also in a row with a NaN among what it sees.
  static void normalise(T* a, std::int64_t n, T inverse) {
    for (std::int64_t j = 0; j < n; ++j) a[j] = a[j] == T{0} ? T{0} : a[j] * inverse;
  }

  /// x <- x * keep / (1 - p) for a block [rows, columns]: weights on the way forward, their cotangents on the way back.
  void drop(const AttentionBlock& b, T* x) const {
    if (dropout == 0) return;
    for (std::int64_t i = 0; i < b.rows; ++i, x += b.columns) {
      const std::int64_t row = (b.batch * shape.heads + b.head) * shape.queries + b.first + i;
      dropped.row(row * shape.keys + b.begin, b.columns,
                  [&](std::int64_t j, bool gone) { x[j] = gone ? T{0} : x[j] * kept_factor; });
    }
  }
};

/// The right factor B [rows, columns] of a product A B in which A is exactly 0 where a key is hidden. What is not
/// finite in B must not come through there as 0 * NaN: such entries are taken out before the product, and added back
/// for the entries of A that are not 0.
template <class T>
class Factor {
 public:
  Factor(const T* x, std::int64_t stride, std::int64_t rows, std::int64_t columns, bool guarded)
      : x_(x), stride_(stride), columns_(columns) {
    if (!guarded) return;
    bool finite = true;
    for (std::int64_t i = 0; i < rows; ++i) finite = finite && all_finite(x + i * stride, columns);
    if (!finite) take_out(rows);
  }

  /// c [m, columns] <- alpha a b[first, first + n), a [m, n] dense; zero where n is 0.
  void write_product(std::int64_t m, std::int64_t first, std::int64_t n, T alpha, const T* a, T* c,
                     std::int64_t ldc) const {
    gemm<T>(m, columns_, n, alpha, a, n, 1, x_ + first * stride_, stride_, 1, T{0}, c, ldc);
    for (const Entry& e : taken_) {
      if (e.row < first || e.row >= first + n) continue;
      for (std::int64_t i = 0; i < m; ++i)
        if (const T weight = a[i * n + e.row - first]; weight != T{0})
          c[i * ldc + e.column] += alpha * weight * e.value;
    }
  }
  /// c [n, columns] += alpha a^T b[first, first + m), a [m, n] dense.
  void add_transposed(std::int64_t first, std::int64_t m, std::int64_t n, T alpha, const T* a, T* c,
                      std::int64_t ldc) const {
    gemm<T>(n, columns_, m, alpha, a, 1, n, x_ + first * stride_, stride_, 1, T{1}, c, ldc);
    for (const Entry& e : taken_) {
      if (e.row < first || e.row >= first + m) continue;
      for (std::int64_t j = 0; j < n; ++j)
        if (const T weight = a[(e.row - first) * n + j]; weight != T{0})
          c[j * ldc + e.column] += alpha * weight * e.value;
    }
  }

 private:
  struct Entry {
    std::int64_t row, column;
    T value;
  };
  void take_out(std::int64_t rows) {
    clean_.resize(static_cast<std::size_t>(rows * columns_));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) {
        const T value = x_[i * stride_ + j];
        const bool finite = std::isfinite(value);
        if (!finite) taken_.push_back({i, j, value});
        clean_[static_cast<std::size_t>(i * columns_ + j)] = finite ? value : T{0};
      }
    x_ = clean_.data();
    stride_ = columns_;
  }

  const T* x_;
  std::int64_t stride_, columns_;
  PoolVector<T> clean_;
  PoolVector<Entry> taken_;
};

}  // namespace gradus::detail

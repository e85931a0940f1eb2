#pragma once
#include "ops/attention.hpp"

// The composition that defines attention: S = s Q K^T + B, A = softmax of S over the keys that a query sees, Y = A V.
// Every kernel is tested against it and its derivatives of any order come from it.
namespace gradus::detail {

/// b8, the scores' shape: true where query i sees key j. Undefined when every query sees every key.
inline Tensor visible_tensor(const Visible& seen, const AttentionShape& s) {
  if (seen.everything()) return {};
  Tensor y(s.scores, DType::b8);
  bool* out = y.fresh_data<bool>();
  const Heads<const bool> mask = scores_view<bool>(seen.mask, s.scores);
  for (std::int64_t item = 0; item < s.batch * s.heads; ++item) {
    const bool* const m = mask ? mask.matrix(item / s.heads, item % s.heads) : nullptr;
    for (std::int64_t i = 0; i < s.queries; ++i)
      for (std::int64_t j = 0; j < s.keys; ++j)
        *out++ = (!seen.band || (j - i >= seen.band->low && j - i <= seen.band->high)) &&
                 (!m || m[i * mask.row_stride + j * mask.column_stride]);
  }
  return y;
}

/// What the masked softmax selects by. A row with nothing to attend (all hidden, or all scores -inf) is filled with 0
/// instead of -inf, so that its softmax and the derivatives of that stay finite; the last selection then makes its
/// weights 0.
struct Selection {
  Tensor alive;      ///< b8 [..., L, S]: visible, and not in an empty row
  Tensor alive_row;  ///< b8 [..., L, 1]
  Tensor filler;     ///< [..., L, 1]: 0 in an empty row, else -inf
};
inline Selection selection_of(const Tensor& scores, const Tensor& visible) {
  Shape column = scores.shape();
  column[column.rank() - 1] = 1;
  Selection y{Tensor(scores.shape(), DType::b8), Tensor(column, DType::b8), Tensor(column, scores.dtype())};
  const Tensor dense = packed(scores);
  dispatch_floating("attention", scores.dtype(), [&](auto zero) {
    using T = decltype(zero);
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const std::int64_t n = scores.shape().back(), rows = column.numel();
    const T* s = dense.data<T>();
    const bool* seen = visible.defined() ? visible.data<bool>() : nullptr;
    bool* alive = y.alive.fresh_data<bool>();
    for (std::int64_t row = 0; row < rows; ++row, s += n, alive += n) {
      bool any = false;
      for (std::int64_t j = 0; j < n; ++j) any = any || ((!seen || seen[row * n + j]) && s[j] != -infinity);
      for (std::int64_t j = 0; j < n; ++j) alive[j] = any && (!seen || seen[row * n + j]);
      y.alive_row.fresh_data<bool>()[row] = any;
      y.filler.fresh_data<T>()[row] = any ? -infinity : T{0};
    }
  });
  return y;
}

inline bool all_finite(const Tensor& x) {
  const Tensor dense = packed(x);
  return dispatch_floating("attention", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const p = dense.data<T>();
    for (std::int64_t i = 0; i < dense.numel(); ++i)
      if (!std::isfinite(p[i])) return false;
    return true;
  });
}

/// x [..., heads, rows, columns] as [batch, kv_heads, group, ...]: `parts` are the last extents.
inline Tensor grouped(const Tensor& x, const AttentionShape& s, std::int64_t group,
                      std::initializer_list<std::int64_t> parts) {
  Shape shape{s.batch, s.kv_heads, group};
  for (const std::int64_t n : parts) shape.push_back(n);
  return reshape(x, shape);
}

/// Q K^T. With NaN or infinity in a key that some query does not see (or in a query that sees nothing), 0 * NaN in the
/// rule of a product would carry it into gradients: then factors are selected for each pair before they are multiplied.
inline Tensor reference_products(const Tensor& q, const Tensor& k, const Tensor& visible, const AttentionShape& s) {
  if (visible.defined() && !(all_finite(q) && all_finite(k))) {
    const Tensor pairs = grouped(visible, s, s.group(), {s.queries, s.keys, 1});
    const Tensor left = where(pairs, grouped(q, s, s.group(), {s.queries, 1, s.width}), 0.0);
    const Tensor right = where(pairs, grouped(k, s, 1, {1, s.keys, s.width}), 0.0);
    return reshape(sum(left * right, -1), s.scores);
  }
  if (s.group() == 1) return matmul(q, transpose(k));
  return reshape(matmul(grouped(q, s, s.group(), {s.queries, s.width}), transpose(grouped(k, s, 1, {s.keys, s.width}))),
                 s.scores);
}

/// A V, with the same selection.
inline Tensor reference_values(const Tensor& weights, const Tensor& v, const Selection& selection,
                               const AttentionShape& s) {
  const std::int64_t width = v.size(-1);
  Shape shape = s.scores;
  shape[shape.rank() - 1] = width;
  if (selection.alive.defined() && !all_finite(v)) {
    const Tensor pairs = grouped(selection.alive, s, s.group(), {s.queries, s.keys, 1});
    const Tensor values = where(pairs, grouped(v, s, 1, {1, s.keys, width}), 0.0);
    return reshape(sum(grouped(weights, s, s.group(), {s.queries, s.keys, 1}) * values, -2), shape);
  }
  const Tensor y =
      s.group() == 1
          ? matmul(weights, v)
          : reshape(matmul(grouped(weights, s, s.group(), {s.queries, s.keys}), grouped(v, s, 1, {s.keys, width})),
                    shape);
  return selection.alive_row.defined() ? where(selection.alive_row, y, 0.0) : y;
}

struct ReferenceWeights {
  Tensor weights;
  Selection selection;  ///< undefined tensors when nothing is hidden
};
/// A, after dropout.
inline ReferenceWeights reference_weights(const Tensor& q, const Tensor& k, const Tensor& bias, const Visible& seen,
                                          const AttentionShape& s, double scale, double dropout, std::uint64_t key) {
  const Tensor visible = visible_tensor(seen, s);
  Tensor scores = reference_products(q, k, visible, s) * scale;
  if (bias.defined()) scores = scores + bias;
  ReferenceWeights y;
  if (visible.defined() || bias.defined()) {
    y.selection = selection_of(scores, visible);
    y.weights = where(y.selection.alive, softmax(where(y.selection.alive, scores, y.selection.filler)), 0.0);
  } else {
    y.weights = softmax(scores);
  }
  if (dropout == 0) return y;
  Tensor kept(s.scores, DType::b8);
  bool* const out = kept.fresh_data<bool>();
  Dropped(dropout, key).row(0, kept.numel(), [&](std::int64_t i, bool dropped) { out[i] = !dropped; });
  y.weights = where(kept, y.weights, 0.0) * (dropout < 1 ? 1 / (1 - dropout) : 0.0);
  return y;
}

}  // namespace gradus::detail

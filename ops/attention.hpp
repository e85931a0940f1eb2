#pragma once
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "ops/ops.hpp"

#include <cmath>
#include <limits>

// What attention and attention_weights share: checks, what may be seen, dropped weights, and the composition that
// defines both.
namespace gradus::detail {

/// The extents of one call: q [batch, heads, queries, width], k [batch, kv_heads, keys, width]; all axes before the
/// heads are the batch.
struct AttentionShape {
  Shape scores;  ///< [..., heads, queries, keys]
  std::int64_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0;
  /// Query heads for each key/value head: query head h uses key/value head h / group().
  std::int64_t group() const { return kv_heads == 0 ? 1 : heads / kv_heads; }
};

inline void check_attention_input(const char* op, const char* name, const Tensor& x, const Tensor& q) {
  if (!x.defined()) fail("{}: {} is undefined; give a tensor [..., length, width]", op, name);
  if (!is_floating(x.dtype())) fail_not_floating(op, x.dtype());
  if (x.rank() < 2) fail("{}: {} has shape {}; it needs [..., length, width]", op, name, x.shape());
  if (x.dtype() != q.dtype()) fail("{}: q is {} and {} is {}; cast one of them", op, q.dtype(), name, x.dtype());
}

// Leading axes: equal, except axis -3, where the number of query heads is a multiple of the number of key/value heads.
inline void check_leading_axes(const char* op, const Tensor& q, const Tensor& k) {
  if (q.rank() != k.rank())
    fail("{}: q {} and k {} have different ranks; their leading axes must be equal", op, q.shape(), k.shape());
  for (int axis = 0; axis + 3 < q.rank(); ++axis)
    if (q.shape()[axis] != k.shape()[axis])
      fail("{}: q {} and k {} differ in leading axis {}; only the heads, axis -3, may differ", op, q.shape(), k.shape(),
           axis);
  if (q.rank() < 3) return;
  const std::int64_t heads = q.size(-3), kv_heads = k.size(-3);
  if (kv_heads == 0 ? heads != 0 : heads % kv_heads != 0)
    fail("{}: {} query heads do not divide among {} key/value heads (axis -3 of {} and {}); use a multiple", op, heads,
         kv_heads, q.shape(), k.shape());
}

inline void check_bias(const char* op, const Tensor& bias, const Tensor& q, const Shape& scores) {
  if (!bias.defined()) return;
  if (bias.dtype() == DType::b8) fail("{}: the bias is b8; truth values are a mask: pass keep(t) as `mask`", op);
  if (bias.dtype() != q.dtype()) fail("{}: q is {} and the bias is {}; cast one of them", op, q.dtype(), bias.dtype());
  bool fits = bias.rank() <= scores.rank();
  for (int i = 1; fits && i <= bias.rank(); ++i) {
    const std::int64_t extent = bias.shape()[bias.rank() - i];
    fits = extent == 1 || extent == scores[scores.rank() - i];
  }
  if (!fits)
    fail("{}: bias {} does not broadcast to the scores {}; give it extents equal or 1", op, bias.shape(), scores);
}

/// Checks all arguments of either op (`v` is null where there is none) and gives the extents.
inline AttentionShape checked_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor* v,
                                        const Tensor& bias, bool causal, std::optional<double> scale, double dropout) {
  check_attention_input(op, "q", q, q);
  check_attention_input(op, "k", k, q);
  check_leading_axes(op, q, k);
  if (q.size(-1) != k.size(-1))
    fail("{}: q {} and k {} have different widths; a score is their dot product", op, q.shape(), k.shape());
  if (v) {
    check_attention_input(op, "v", *v, q);
    bool fits = v->rank() == k.rank();
    for (int axis = 0; fits && axis + 1 < k.rank(); ++axis) fits = v->shape()[axis] == k.shape()[axis];
    if (!fits)
      fail("{}: k {} and v {} must agree in all axes but the last: one value for each key", op, k.shape(), v->shape());
  }
  AttentionShape s{.scores = q.shape(), .queries = q.size(-2), .keys = k.size(-2), .width = q.size(-1)};
  s.scores[q.rank() - 1] = s.keys;
  if (q.rank() > 2) s.heads = q.size(-3), s.kv_heads = k.size(-3);
  for (int axis = 0; axis + 3 < q.rank(); ++axis) s.batch *= q.shape()[axis];
  check_bias(op, bias, q, s.scores);
  if (causal && s.queries != s.keys)
    fail(
        "{}: causal=true with {} queries against {} keys; pass the mask causal(Align::end) (a cache: the last query is "
        "the last key) or "
        "causal(Align::start) instead",
        op, s.queries, s.keys);
  if (scale && !std::isfinite(*scale))
    fail("{}: scale {} is not finite; leave it out for 1/sqrt({})", op, *scale, s.width);
  if (!(dropout >= 0 && dropout <= 1)) fail("{}: dropout {} is not a probability; give one in [0, 1]", op, dropout);
  return s;
}

/// 1/sqrt(width) unless given. Without width all scores are 0, whatever the scale.
inline double attention_scale(std::optional<double> scale, std::int64_t width) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1))));
}

/// x [..., heads, rows, columns] as matrices by (batch, head), whatever the strides; x of rank 2 is one matrix.
template <class T>
struct Heads {
  T* data = nullptr;
  Layout layout;
  std::int64_t row_stride = 0, column_stride = 0;

  Heads() = default;
  Heads(T* first, const Layout& l)
      : data(first), layout(l), row_stride(l.strides[l.shape.rank() - 2]), column_stride(l.strides.back()) {}
  explicit operator bool() const { return data != nullptr; }
  T* matrix(std::int64_t batch, std::int64_t head) const {
    const int rank = layout.shape.rank();
    std::int64_t offset = rank > 2 ? head * layout.strides[rank - 3] : 0;
    for (int axis = rank - 4; axis >= 0; batch /= layout.shape[axis], --axis)
      offset += batch % layout.shape[axis] * layout.strides[axis];
    return data + offset;
  }
};
template <class T>
Heads<const T> heads_of(const Tensor& x) {
  return {x.data<T>(), x.layout()};
}
/// x, which broadcasts to the scores, as one matrix for each (batch, head); nothing for an undefined x.
template <class T>
Heads<const T> scores_view(const Tensor& x, const Shape& scores) {
  if (!x.defined()) return {};
  return {x.data<T>(), broadcast_to("attention", x.layout(), scores)};
}

/// Which keys a query sees: those in the band (if any) that `mask` (if defined) allows. A band lets kernels skip what
/// lies outside.
struct Visible {
  std::optional<Mask::Band> band;
  Tensor mask;  ///< b8, broadcasts to the scores
  bool everything() const { return !band && !mask.defined(); }
};
/// The band of `mask`, where it has one, and of the flag `causal` (which is given for L = S alone), intersected.
inline std::optional<Mask::Band> visible_band(const Mask& mask, bool causal, const AttentionShape& s) {
  std::optional<Mask::Band> band = mask.band(s.queries, s.keys);
  if (!causal) return band;
  if (!band) return Mask::Band{-s.queries, 0};
  band->high = std::min<std::int64_t>(band->high, 0);
  return band;
}
inline Visible visible_keys(const Mask& mask, bool causal, const AttentionShape& s) {
  const bool banded = mask.band(s.queries, s.keys).has_value();
  return {.band = visible_band(mask, causal, s), .mask = banded ? Tensor{} : mask.dense(s.scores)};
}

/// Dropout of weights: weight number i of the scores, in row-major order, is dropped when its 32-bit word lies below p
/// 2^32.
class Dropped {
 public:
  Dropped(double p, std::uint64_t key) : random_{key}, below_(static_cast<std::uint64_t>(std::ldexp(p, 32))) {}
  /// Calls f(i, dropped) for i in [0, n), weights first ... first + n - 1.
  template <class F>
  void row(std::int64_t first, std::int64_t n, F&& f) const {
    Philox::Words words{};
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::uint64_t>(first + i);
      if (i == 0 || at % 4 == 0) words = random_(at / 4, stream);
      f(i, words.w[at % 4] < below_);
    }
  }

 private:
  static constexpr std::uint64_t stream = 5;
  Philox random_;
  std::uint64_t below_;
};

}  // namespace gradus::detail

#include "core/registry.hpp"
#include "ops/attention_kernel.hpp"
#include "ops/attention_reference.hpp"

namespace gradus {
namespace {

using detail::AttentionBlock;
using detail::AttentionProblem;
using detail::AttentionShape;
using detail::Factor;
using detail::Heads;
using detail::Visible;

struct Attention {
  Mask mask;
  bool causal;
  double scale;
  double dropout;
  std::int64_t key;  // of the dropped weights
  static constexpr OpInfo info{
      .name = "attention",
      .math = R"(Y = A V, \quad A = \operatorname{softmax}(s Q K^{T} + B))",
      .rule = "\\bar Q = s \\bar S K\n\\bar K = s \\bar S^{T} Q\n\\bar V = A^{T} \\bar Y\n\\bar B = \\bar S",
      .derivation =
          R"(Y = A V gives \bar V = A^{T} \bar Y and \bar A = \bar Y V^{T}. Each row of A is a softmax of a row of S, so
\bar S = A \odot (\bar A - \sum_j \bar A_j A_j), and \sum_j \bar A_j A_j = \sum_d \bar Y_d Y_d, which needs no A. S = s Q K^{T} + B gives the
rest. A hidden key has A = 0 and \bar S = 0. Key/value heads shared by a group of query heads get the sum over the group.)",
      .why_kept =
          "the rules need Q, K and V; A is computed again from each row's maximum and sum, so memory stays linear in "
          "the length",
      .numpy = "attention({q}, {k}, {v}, mask={mask}, bias={bias}, causal={causal}, scale={scale})"};
  static constexpr Keep keeps = Keep::both;
  static constexpr bool broadcasts = true;  // the bias

  AttentionShape shape_of(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
    return detail::checked_attention("attention", q, k, &v, bias, causal, scale, dropout);
  }
  Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
    const AttentionShape s = shape_of(q, k, v, bias);
    const auto [weights, selection] = detail::reference_weights(q, k, bias, detail::visible_keys(mask, causal, s), s,
                                                                scale, dropout, static_cast<std::uint64_t>(key));
    return detail::reference_values(weights, v, selection, s);
  }
  Forward forward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const;
  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }
  Grads fused_vjp(const Vjp& v) const;

  static void samples(Samples& s);
};

// Nanoseconds for a block: its products at 20 flops each, and the softmax.
double block_cost(const AttentionShape& s, std::int64_t rows, std::int64_t widths) {
  return 1000 + static_cast<double>(rows) * static_cast<double>(s.keys) * (2 + 0.1 * static_cast<double>(widths));
}

// Y = A V, block by block; each block writes rows of its own.
template <class T>
void forward_kernel(const AttentionProblem<T>& p, const Heads<const T>& v, std::int64_t width, const Heads<T>& y,
                    T* statistics) {
  const AttentionShape& s = p.shape;
  const std::int64_t blocks = s.batch * s.heads * p.row_blocks;
  parallel_for(blocks, chunk_for(block_cost(s, p.block_rows, s.width + width)),
               [&](std::int64_t begin, std::int64_t end) {
                 PoolVector<T> a(static_cast<std::size_t>(p.block_size()));
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t matrix = item / p.row_blocks, batch = matrix / s.heads, head = matrix % s.heads;
                   const AttentionBlock b = p.block(batch, head, item % p.row_blocks);
                   p.weights(b, a.data(), statistics + 2 * (matrix * s.queries + b.first));
                   p.drop(b, a.data());
                   T* const out = y.matrix(batch, head) + b.first * y.row_stride;
                   const Factor<T> values(v.matrix(batch, p.kv_head(head)) + b.begin * v.row_stride, v.row_stride,
                                          b.columns, width, p.hides());
                   values.write_product(b.rows, 0, b.columns, T{1}, a.data(), out, y.row_stride);
                 }
               });
}

Forward Attention::forward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
  const AttentionShape s = shape_of(q, k, v, bias);
  const Visible seen = detail::visible_keys(mask, causal, s);
  const Tensor dense_q = detail::dense_rows(q), dense_k = detail::dense_rows(k), dense_v = detail::dense_rows(v);
  Shape shape = q.shape();
  shape[q.rank() - 1] = v.size(-1);
  Tensor y = detail::ordered_like(q, shape);
  Tensor statistics({s.batch * s.heads, s.queries, 2}, q.dtype());
  dispatch_floating("attention", q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const AttentionProblem<T> p(s, seen, dense_q, dense_k, bias, scale, dropout, static_cast<std::uint64_t>(key));
    forward_kernel<T>(p, detail::heads_of<T>(dense_v), v.size(-1), Heads<T>(y.fresh_data<T>(), y.layout()),
                      statistics.fresh_data<T>());
  });
  return {y, statistics, seen.mask};
}

// Cotangents of all inputs; those that nobody wants are null. dk and dv start at 0.
template <class T>
struct Backward {
  const AttentionProblem<T>& p;
  Heads<const T> v, y, g;
  const T* statistics;
  std::int64_t width;  // of v
  Heads<T> dq, dk, dv, dbias;

  // One key/value head: its query heads and their blocks in order, so that the sums into dk and dv have a fixed order.
  void run(std::int64_t batch, std::int64_t kv_head) const {
    const AttentionShape& s = p.shape;
    const Factor<T> keys(p.k.matrix(batch, kv_head), p.k.row_stride, s.keys, s.width, p.hides());
    PoolVector<T> a(static_cast<std::size_t>(p.block_size())), ds(a.size()), kept(p.dropout == 0 ? 0 : a.size());
    for (std::int64_t head = kv_head * s.group(); head < (kv_head + 1) * s.group(); ++head) {
      const Factor<T> queries(p.q.matrix(batch, head), p.q.row_stride, s.queries, s.width, p.hides());
      const Factor<T> cotangents(g.matrix(batch, head), g.row_stride, s.queries, width, p.hides());
      for (std::int64_t index = 0; index < p.row_blocks; ++index) {
        const AttentionBlock b = p.block(batch, head, index);
        p.weights_again(b, a.data(), statistics + 2 * ((batch * s.heads + head) * s.queries + b.first));
        if (dv) {  // forward: y = drop(a) v
          const T* const dropped = drop_copy(b, a, kept);
          cotangents.add_transposed(b.first, b.rows, b.columns, T{1}, dropped,
                                    dv.matrix(batch, kv_head) + b.begin * dv.row_stride, dv.row_stride);
        }
        if (!dq && !dk && !dbias) continue;
        score_cotangents(b, a.data(), ds.data());
        if (dbias) write_bias(b, ds.data());
        if (dq) {  // forward: s = scale q k^T
          T* const out = dq.matrix(batch, head) + b.first * dq.row_stride;
          keys.write_product(b.rows, b.begin, b.columns, p.scale, ds.data(), out, dq.row_stride);
        }
        if (dk)
          queries.add_transposed(b.first, b.rows, b.columns, p.scale, ds.data(),
                                 dk.matrix(batch, kv_head) + b.begin * dk.row_stride, dk.row_stride);
      }
    }
  }

  const T* drop_copy(const AttentionBlock& b, const PoolVector<T>& a, PoolVector<T>& kept) const {
    if (p.dropout == 0) return a.data();
    std::copy_n(a.data(), b.rows * b.columns, kept.data());
    p.drop(b, kept.data());
    return kept.data();
  }

  // forward: a = softmax(s), y = drop(a) v.  ds = a (drop(g v^T) - sum g y), exactly 0 where a is.
  void score_cotangents(const AttentionBlock& b, const T* a, T* ds) const {
    const T* const gb = g.matrix(b.batch, b.head) + b.first * g.row_stride;
    const T* const yb = y.matrix(b.batch, b.head) + b.first * y.row_stride;
    const T* const vb = v.matrix(b.batch, p.kv_head(b.head)) + b.begin * v.row_stride;
    gemm<T>(b.rows, b.columns, width, T{1}, gb, g.row_stride, 1, vb, 1, v.row_stride, T{0}, ds, b.columns);
    p.drop(b, ds);
    for (std::int64_t i = 0; i < b.rows; ++i, a += b.columns, ds += b.columns) {
      const T inner = static_cast<T>(dot_of(gb + i * g.row_stride, yb + i * y.row_stride, width));
      for (std::int64_t j = 0; j < b.columns; ++j) ds[j] = a[j] == T{0} ? T{0} : a[j] * (ds[j] - inner);
    }
  }

  void write_bias(const AttentionBlock& b, const T* ds) const {
    T* const out = dbias.matrix(b.batch, b.head) + b.first * dbias.row_stride;
    for (std::int64_t i = 0; i < b.rows; ++i) {
      std::fill_n(out + i * dbias.row_stride, p.shape.keys, T{0});
      std::copy_n(ds + i * b.columns, b.columns, out + i * dbias.row_stride + b.begin);
    }
  }
};

template <class T>
void fill_zero(Tensor& x) {
  if (x.defined()) std::fill_n(x.fresh_data<T>(), x.numel(), T{0});
}

Grads Attention::fused_vjp(const Vjp& vjp) const {
  const Tensor &q = vjp.x[0], &k = vjp.x[1], &v = vjp.x[2], &bias = vjp.x[3];
  const AttentionShape s = shape_of(q, k, v, bias);
  const Visible seen{.band = detail::visible_band(mask, causal, s), .mask = vjp.residuals[1]};
  const Tensor dense_q = detail::dense_rows(q), dense_k = detail::dense_rows(k), dense_v = detail::dense_rows(v),
               dense_g = detail::dense_rows(vjp.g);
  Tensor dq = vjp.want(0, [&] { return detail::ordered_like(q, q.shape()); });
  Tensor dk = vjp.want(1, [&] { return detail::ordered_like(k, k.shape()); });
  Tensor dv = vjp.want(2, [&] { return detail::ordered_like(v, v.shape()); });
  Tensor dbias = vjp.want(3, [&] { return Tensor(s.scores, q.dtype()); });
  dispatch_floating("attention", q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    fill_zero<T>(dk), fill_zero<T>(dv);
    const auto writer = [](Tensor& x) { return x.defined() ? Heads<T>(x.fresh_data<T>(), x.layout()) : Heads<T>(); };
    const AttentionProblem<T> p(s, seen, dense_q, dense_k, bias, scale, dropout, static_cast<std::uint64_t>(key));
    const Backward<T> backward{.p = p,
                               .v = detail::heads_of<T>(dense_v),
                               .y = detail::heads_of<T>(vjp.y),
                               .g = detail::heads_of<T>(dense_g),
                               .statistics = vjp.residuals[0].data<T>(),
                               .width = v.size(-1),
                               .dq = writer(dq),
                               .dk = writer(dk),
                               .dv = writer(dv),
                               .dbias = writer(dbias)};
    const double cost = block_cost(s, s.queries * s.group(), 3 * s.width + 2 * v.size(-1));
    parallel_for(s.batch * s.kv_heads, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) backward.run(item / s.kv_heads, item % s.kv_heads);
    });
  });
  return {dq, dk, dv, dbias};
}

void Attention::samples(Samples& s) {
  s.add(attention, s.randn({2, 4, 5, 6}), s.randn({2, 4, 7, 6}), s.randn({2, 4, 7, 3})).for_benchmark();
  s.add(attention, s.randn({3, 4}), s.randn({5, 4}), s.randn({5, 2}));
  s.add(attention, s.randn({2, 5, 4}), s.randn({2, 5, 4}), s.randn({2, 5, 4}), Mask{}, Tensor{}, true);
  s.add(attention, s.randn({2, 4, 3, 4}), s.randn({2, 2, 5, 4}), s.randn({2, 2, 5, 3}), gradus::causal(Align::end));
  s.add(attention, s.randn({2, 2, 3, 4}), s.randn({2, 1, 3, 4}), s.randn({2, 1, 3, 2}), lengths(indices({2, 0})),
        s.randn({2, 3, 3}), true, 0.3);
  s.add(attention, s.randn({2, 3, 4}), s.randn({2, 4, 4}), s.randn({2, 4, 2}), window(1, 1, Align::start),
        s.randn({4}));
  s.add(attention, s.randn({2, 4, 4}), s.randn({2, 4, 4}), s.randn({2, 4, 2}), keep(s.bools({2, 4, 4})));
  s.add(attention, s.randn({2, 3, 4}), s.randn({2, 4, 4}), s.randn({2, 4, 2}), Mask{}, Tensor{}, false,
        std::optional<double>{}, 0.4);
  s.add(attention, s.randn({2, 3, 4}), s.randn({2, 0, 4}), s.randn({2, 0, 2}));
  s.add(attention, s.randn({2, 0, 4}), s.randn({2, 3, 4}), s.randn({2, 3, 2}));
  s.error("3 query heads do not divide among 2 key/value heads", attention, s.randn({3, 5, 4}), s.randn({2, 5, 4}),
          s.randn({2, 5, 4}));
  s.error("have different widths", attention, s.randn({5, 4}), s.randn({5, 3}), s.randn({5, 4}));
  s.error("one value for each key", attention, s.randn({5, 4}), s.randn({6, 4}), s.randn({5, 4}));
  s.error("causal(Align::end)", attention, s.randn({2, 4}), s.randn({5, 4}), s.randn({5, 4}), Mask{}, Tensor{}, true);
  s.error("differ in leading axis 0", attention, s.randn({2, 1, 5, 4}), s.randn({3, 1, 5, 4}), s.randn({3, 1, 5, 4}));
  s.error("does not broadcast to the scores [5, 5]", attention, s.randn({5, 4}), s.randn({5, 4}), s.randn({5, 4}),
          Mask{}, s.randn({3}));
  s.error("pass keep(t) as `mask`", attention, s.randn({5, 4}), s.randn({5, 4}), s.randn({5, 4}), Mask{},
          s.bools({5, 5}));
  s.error("needs [..., length, width]", attention, s.randn({4}), s.randn({5, 4}), s.randn({5, 4}));
}

const Register<Attention> registered{
    attention, {"q", "k", "v", {"mask", None}, {"bias", None}, {"causal", false}, {"scale", None}, {"dropout", 0.0}}};

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask, const Tensor& bias, bool causal,
                 std::optional<double> scale, double dropout) {
  const AttentionShape s = detail::checked_attention("attention", q, k, &v, bias, causal, scale, dropout);
  const std::int64_t key = dropout > 0 ? static_cast<std::int64_t>(default_generator().key()) : 0;
  return apply(Attention{mask, causal, detail::attention_scale(scale, s.width), dropout, key}, q, k, v, bias);
}

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/attention_kernel.hpp"
#include "ops/attention_reference.hpp"

namespace gradus {
namespace {

using detail::AttentionBlock;
using detail::AttentionProblem;
using detail::AttentionShape;

struct AttentionWeights {
  Mask mask;
  bool causal;
  double scale;
  double dropout;
  std::int64_t key;  // of the dropped weights
  static constexpr OpInfo info{
      .name = "attention_weights",
      .math = R"(A = \operatorname{softmax}(s Q K^{T} + B))",
      .rule = "\\bar Q = s \\bar S K\n\\bar K = s \\bar S^{T} Q\n\\bar B = \\bar S",
      .derivation =
          R"(Each row of A is a softmax of a row of S = s Q K^{T} + B, so \bar S = A \odot (\bar A - \sum_j \bar A_j A_j).
The product gives the rest. A hidden key has A = 0 and \bar S = 0; a row with nothing to attend is 0.)",
      .why_kept = "the rules need Q and K; A is computed again",
      .numpy = "attention_weights({q}, {k}, mask={mask}, bias={bias}, causal={causal}, scale={scale})"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;  // the bias

  AttentionShape shape_of(const Tensor& q, const Tensor& k, const Tensor& bias) const {
    return detail::checked_attention("attention_weights", q, k, nullptr, bias, causal, scale, dropout);
  }
  Tensor reference(const Tensor& q, const Tensor& k, const Tensor& bias) const {
    const AttentionShape s = shape_of(q, k, bias);
    return detail::reference_weights(q, k, bias, detail::visible_keys(mask, causal, s), s, scale, dropout,
                                     static_cast<std::uint64_t>(key))
        .weights;
  }
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& bias) const {
    const AttentionShape s = shape_of(q, k, bias);
    const Tensor dense_q = detail::dense_rows(q), dense_k = detail::dense_rows(k);
    Tensor y(s.scores, q.dtype());
    dispatch_floating("attention_weights", q.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const AttentionProblem<T> p(s, detail::visible_keys(mask, causal, s), dense_q, dense_k, bias, scale, dropout,
                                  static_cast<std::uint64_t>(key));
      T* const out = y.fresh_data<T>();
      const double cost = 1000 + static_cast<double>(p.block_size()) * (2 + 0.1 * static_cast<double>(s.width));
      parallel_for(s.batch * s.heads * p.row_blocks, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
        PoolVector<T> statistics(static_cast<std::size_t>(2 * p.block_rows));
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t matrix = item / p.row_blocks;
          const AttentionBlock b = p.whole_block(matrix / s.heads, matrix % s.heads, item % p.row_blocks);
          T* const a = out + (matrix * s.queries + b.first) * s.keys;
          p.weights(b, a, statistics.data());
          p.drop(b, a);
        }
      });
    });
    return y;
  }
  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }

  static void samples(Samples& s) {
    s.add(attention_weights, s.randn({2, 4, 5, 6}), s.randn({2, 4, 7, 6})).for_benchmark();
    s.add(attention_weights, s.randn({3, 4}), s.randn({5, 4}));
    s.add(attention_weights, s.randn({2, 5, 4}), s.randn({2, 5, 4}), Mask{}, Tensor{}, true);
    s.add(attention_weights, s.randn({2, 4, 3, 4}), s.randn({2, 2, 5, 4}), gradus::causal(Align::end));
    s.add(attention_weights, s.randn({2, 2, 3, 4}), s.randn({2, 1, 3, 4}), lengths(indices({2, 0})), s.randn({2, 3, 3}),
          true, 0.3);
    s.add(attention_weights, s.randn({2, 4, 4}), s.randn({2, 4, 4}), keep(s.bools({2, 4, 4})));
    s.add(attention_weights, s.randn({2, 3, 4}), s.randn({2, 4, 4}), Mask{}, Tensor{}, false, std::optional<double>{},
          0.4);
    s.add(attention_weights, s.randn({2, 3, 4}), s.randn({2, 0, 4}));
    s.error("3 query heads do not divide among 2 key/value heads", attention_weights, s.randn({3, 5, 4}),
            s.randn({2, 5, 4}));
    s.error("causal(Align::end)", attention_weights, s.randn({2, 4}), s.randn({5, 4}), Mask{}, Tensor{}, true);
    s.error("dropout 1.5 is not a probability", attention_weights, s.randn({2, 4}), s.randn({5, 4}), Mask{}, Tensor{},
            false, std::optional<double>{}, 1.5);
  }
};

const Register<AttentionWeights> registered{
    attention_weights,
    {"q", "k", {"mask", None}, {"bias", None}, {"causal", false}, {"scale", None}, {"dropout", 0.0}}};

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, const Mask& mask, const Tensor& bias, bool causal,
                         std::optional<double> scale, double dropout) {
  const AttentionShape s = detail::checked_attention("attention_weights", q, k, nullptr, bias, causal, scale, dropout);
  const std::int64_t key = dropout > 0 ? static_cast<std::int64_t>(default_generator().key()) : 0;
  return apply(AttentionWeights{mask, causal, detail::attention_scale(scale, s.width), dropout, key}, q, k, bias);
}

}  // namespace gradus

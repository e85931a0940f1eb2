#pragma once
#include "nn/cache.hpp"
#include "nn/dropout.hpp"
#include "nn/heads.hpp"
#include "nn/linear.hpp"

namespace gradus::nn {

struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> kdim{}, vdim{};  ///< widths of the keys' and values' inputs where they are not `embed`
  double dropout = 0;                          ///< of the weights
  bool bias = true;                            ///< of all projections
};

/// softmax(Q_h K_h^T / sqrt(D)) V_h for each head h, side by side, then a linear layer (Vaswani et al. 2017).
/// Inputs are [..., length, width], batch first; masks are true = may attend, on scores [..., heads, L, S].
/// Names and layouts as torch.nn.MultiheadAttention.
struct MultiHeadAttention {
  Tensor in_proj_weight;                               ///< [3E, E]: queries, keys, values; undefined with kdim or vdim
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  ///< instead, with kdim or vdim: [E, E], [E, kdim], [E, vdim]
  Tensor in_proj_bias;                                 ///< [3E]
  Linear out_proj;                                     ///< E to E
  Dropout dropout;
  std::int64_t heads;

  /// Projections in: Xavier uniform (the packed one as [3E, E]); biases 0; out_proj as Linear. Error, naming both
  /// numbers, when the heads do not divide the width.
  MultiHeadAttention(std::int64_t embed, std::int64_t head_count, const MultiHeadAttentionOptions& options = {});

  /// Self-attention. With `causal` position i sees positions up to i, in addition to the mask.
  Tensor operator()(const Tensor& x, const Mask& mask = {}, bool causal = false) const;
  /// Queries from q, keys from k, values from v. `causal` asks for equal lengths; else give causal(Align::...).
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {},
                    bool causal = false) const;
  /// Output and weights [..., H, L, S], or their mean over the heads [..., L, S]; the weights are those before dropout.
  Attended with_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}, bool causal = false,
                        bool average = false) const;

  /// Causal self-attention of new positions x after those in the cache, which grows. The mask is on all positions so
  /// far.
  Tensor step(const Tensor& x, KeyValueCache& cache, const Mask& mask = {}) const;
  /// The projected keys and values of a memory, to be attended to many times.
  KeyValueCache remember(const Tensor& k, const Tensor& v) const;
  /// Queries from q over a remembered memory.
  Tensor attend(const Tensor& q, const KeyValueCache& memory, const Mask& mask = {}) const;

  void parts(auto&& f) {
    f("in_proj_weight", in_proj_weight);
    f("q_proj_weight", q_proj_weight);
    f("k_proj_weight", k_proj_weight);
    f("v_proj_weight", v_proj_weight);
    f("in_proj_bias", in_proj_bias);
    f("out_proj", out_proj);
    f("dropout", dropout);
  }

 private:
  Tensor project(const Tensor& x, int which) const;
  Projected project(const Tensor& q, const Tensor& k, const Tensor& v) const;
};

}  // namespace gradus::nn

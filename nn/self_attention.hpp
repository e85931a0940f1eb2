#pragma once
#include "nn/dropout.hpp"
#include "nn/heads.hpp"
#include "nn/linear.hpp"

namespace gradus::nn {

struct SelfAttentionOptions {
  std::int64_t head_width = 0;  ///< of queries, keys and values; 0: the input's
  bool bias = true;
};

/// Attention with one head, written out: q = x Wq^T + bq, k and v likewise, weights = softmax(q k^T / sqrt(D)),
/// output = weights v. Returns both, output [..., T, D] and weights [..., T, T].
struct SelfAttention {
  Linear query, key, value;  ///< initialised as Linear

  explicit SelfAttention(std::int64_t width, const SelfAttentionOptions& options = {});
  Attended operator()(const Tensor& x, const Mask& mask = {}, bool causal = false) const;
  void parts(auto&& f) {
    f("query", query);
    f("key", key);
    f("value", value);
  }
};

}  // namespace gradus::nn

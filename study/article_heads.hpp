#pragma once
#include "nn/linear.hpp"
#include "nn/self_attention.hpp"

#include <vector>

// The two multi-head modules of the articles, as they are written there.
namespace gradus::study::toy {

/// First article: a list of attentions of full width, side by side, then a linear layer back to the width.
struct FullWidthHeads {
  std::vector<nn::SelfAttention> heads;
  nn::Linear fc;  ///< H * E to E

  FullWidthHeads(std::int64_t embed, std::int64_t head_count);
  /// [..., T, E] to [..., T, E].
  Tensor operator()(const Tensor& x) const { return fc(side_by_side(x)); }
  /// What the linear layer reads, [..., T, H * E].
  Tensor side_by_side(const Tensor& x) const;
  void parts(auto&& f) {
    f("heads", heads);
    f("fc", fc);
  }
};

/// Second article: the raw embedding is cut into slices, and one small projection serves the slices of all heads. The
/// scores are divided by sqrt(embed).
struct SlicedHeads {
  nn::Linear values, keys, queries;  ///< of one slice, without bias
  nn::Linear fc_out;
  std::int64_t heads;

  SlicedHeads(std::int64_t embed, std::int64_t head_count);
  /// [..., T, E] to [..., T, E].
  Tensor operator()(const Tensor& x) const;
  /// The heads before fc_out, [..., H, T, D].
  Tensor by_head(const Tensor& x) const;
  void parts(auto&& f) {
    f("values", values);
    f("keys", keys);
    f("queries", queries);
    f("fc_out", fc_out);
  }
};

/// Heads as they are meant: column block h of the projections [E, E] is head h's own. x [T, E] to [H, T, D].
Tensor standard_heads(const Tensor& x, const Tensor& wq, const Tensor& wk, const Tensor& wv, std::int64_t heads);

}  // namespace gradus::study::toy

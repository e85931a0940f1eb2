#pragma once
#include "nn/layer_norm.hpp"
#include "nn/layer_options.hpp"
#include "nn/multi_head_attention.hpp"

namespace gradus::nn {

/// Self-attention, then a feed-forward layer, each with its residual path and norm. x is [..., T, embed].
/// Names as torch.nn.TransformerEncoderLayer; swiglu's third matrix is linear3.
struct EncoderLayer {
  MultiHeadAttention self_attn;
  FeedForward feed_forward;  ///< its parts are named as the layer's own: linear1, linear2
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;
  bool norm_first;

  explicit EncoderLayer(const LayerOptions& options);
  /// Each position attends where the mask allows: keys(t) hides padding, causal() the future.
  Tensor operator()(const Tensor& x, const Mask& mask = {}) const;
  void parts(auto&& f) {
    f("self_attn", self_attn);
    feed_forward.parts(f);
    f("norm1", norm1);
    f("norm2", norm2);
    f("dropout1", dropout1);
    f("dropout2", dropout2);
  }
};

/// Encoder layers one after another, and a final norm if asked for. Names as torch.nn.TransformerEncoder.
struct Encoder {
  std::vector<EncoderLayer> layers;
  std::optional<LayerNorm> norm;

  Encoder(const LayerOptions& options, std::int64_t layer_count, bool final_norm = false);
  Tensor operator()(const Tensor& x, const Mask& mask = {}) const;
  void parts(auto&& f) {
    f("layers", layers);
    f("norm", norm);
  }
};

}  // namespace gradus::nn

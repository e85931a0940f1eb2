#pragma once
#include "nn/layer_norm.hpp"
#include "nn/layer_options.hpp"
#include "nn/multi_head_attention.hpp"

namespace gradus::nn {

/// What one decoder layer keeps between steps: its own past, and the projected memory.
struct DecoderLayerCache {
  KeyValueCache self, memory;
};

/// Self-attention, attention over the encoder's output, then a feed-forward layer, each with its residual path and
/// norm. x is [..., T, embed], the memory [..., S, embed]. Names as torch.nn.TransformerDecoderLayer.
struct DecoderLayer {
  MultiHeadAttention self_attn, multihead_attn;
  FeedForward feed_forward;  ///< its parts are named as the layer's own: linear1, linear2
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;
  bool norm_first;

  explicit DecoderLayer(const LayerOptions& options);
  /// The target mask is on [T, T] (causal() for a decoder that generates), the memory mask on [T, S].
  Tensor operator()(const Tensor& x, const Tensor& memory, const Mask& target_mask = {},
                    const Mask& memory_mask = {}) const;
  /// The same with the weights over the memory, [..., heads, T, S].
  Attended with_weights(const Tensor& x, const Tensor& memory, const Mask& target_mask = {},
                        const Mask& memory_mask = {}) const;
  /// New positions after those in the cache, causal.
  Tensor step(const Tensor& x, DecoderLayerCache& cache, const Mask& memory_mask = {}) const;
  void parts(auto&& f) {
    f("self_attn", self_attn);
    f("multihead_attn", multihead_attn);
    feed_forward.parts(f);
    f("norm1", norm1);
    f("norm2", norm2);
    f("norm3", norm3);
    f("dropout1", dropout1);
    f("dropout2", dropout2);
    f("dropout3", dropout3);
  }
};

/// What a decoder keeps between steps.
struct DecoderCache {
  std::vector<DecoderLayerCache> layers;
  std::int64_t length() const { return layers.empty() ? 0 : layers.front().self.length(); }
};

/// Decoder layers one after another, and a final norm if asked for. Names as torch.nn.TransformerDecoder.
struct Decoder {
  std::vector<DecoderLayer> layers;
  std::optional<LayerNorm> norm;

  Decoder(const LayerOptions& options, std::int64_t layer_count, bool final_norm = false);
  Tensor operator()(const Tensor& x, const Tensor& memory, const Mask& target_mask = {},
                    const Mask& memory_mask = {}) const;
  /// The same with the last layer's weights over the memory, [..., heads, T, S].
  Attended with_weights(const Tensor& x, const Tensor& memory, const Mask& target_mask = {},
                        const Mask& memory_mask = {}) const;
  /// An empty cache over this memory, whose keys and values every layer projects once.
  DecoderCache start(const Tensor& memory) const;
  /// New positions x [..., L, embed] after those in the cache: the same as the causal pass over all of them.
  Tensor step(const Tensor& x, DecoderCache& cache, const Mask& memory_mask = {}) const;
  void parts(auto&& f) {
    f("layers", layers);
    f("norm", norm);
  }
};

}  // namespace gradus::nn

#include "nn/encoder.hpp"

#include "nn/residual.hpp"

namespace gradus::nn {

EncoderLayer::EncoderLayer(const LayerOptions& o)
    : self_attn(o.embed, o.heads, {.dropout = o.attention_dropout.value_or(o.dropout), .bias = o.bias}),
      feed_forward(o.embed, o.feedforward, {.activation = o.activation, .dropout = o.dropout, .bias = o.bias}),
      norm1(o.embed, {.eps = o.eps, .bias = o.bias}),
      norm2(o.embed, {.eps = o.eps, .bias = o.bias}),
      dropout1(o.dropout),
      dropout2(o.dropout),
      norm_first(o.norm_first) {}

Tensor EncoderLayer::operator()(const Tensor& x, const Mask& mask) const {
  const Tensor y = residual(x, norm1, dropout1, norm_first, [&](const Tensor& t) { return self_attn(t, mask); });
  return residual(y, norm2, dropout2, norm_first, feed_forward);
}

Encoder::Encoder(const LayerOptions& options, std::int64_t layer_count, bool final_norm) {
  for (std::int64_t i = 0; i < layer_count; ++i) layers.emplace_back(options);
  if (final_norm) norm.emplace(options.embed, LayerNormOptions{.eps = options.eps, .bias = options.bias});
}

Tensor Encoder::operator()(const Tensor& x, const Mask& mask) const {
  Tensor y = x;
  for (const EncoderLayer& layer : layers) y = layer(y, mask);
  return norm ? (*norm)(y) : y;
}

}  // namespace gradus::nn

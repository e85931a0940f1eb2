#include "nn/decoder.hpp"

#include "nn/residual.hpp"

namespace gradus::nn {
namespace {

/// The three sublayers; `self` and `cross` say how the first two attend.
template <class Self, class Cross>
Tensor run(const DecoderLayer& layer, const Tensor& x, Self&& self, Cross&& cross) {
  Tensor y = residual(x, layer.norm1, layer.dropout1, layer.norm_first, self);
  y = residual(y, layer.norm2, layer.dropout2, layer.norm_first, cross);
  return residual(y, layer.norm3, layer.dropout3, layer.norm_first, layer.feed_forward);
}

}  // namespace

DecoderLayer::DecoderLayer(const LayerOptions& o)
    : self_attn(o.embed, o.heads, {.dropout = o.attention_dropout.value_or(o.dropout), .bias = o.bias}),
      multihead_attn(o.embed, o.heads, {.dropout = o.attention_dropout.value_or(o.dropout), .bias = o.bias}),
      feed_forward(o.embed, o.feedforward, {.activation = o.activation, .dropout = o.dropout, .bias = o.bias}),
      norm1(o.embed, {.eps = o.eps, .bias = o.bias}),
      norm2(o.embed, {.eps = o.eps, .bias = o.bias}),
      norm3(o.embed, {.eps = o.eps, .bias = o.bias}),
      dropout1(o.dropout),
      dropout2(o.dropout),
      dropout3(o.dropout),
      norm_first(o.norm_first) {}

Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& memory, const Mask& target_mask,
                                const Mask& memory_mask) const {
  return run(
      *this, x, [&](const Tensor& t) { return self_attn(t, target_mask); },
      [&](const Tensor& t) { return multihead_attn(t, memory, memory, memory_mask); });
}

Attended DecoderLayer::with_weights(const Tensor& x, const Tensor& memory, const Mask& target_mask,
                                    const Mask& memory_mask) const {
  Attended seen;
  Tensor output = run(
      *this, x, [&](const Tensor& t) { return self_attn(t, target_mask); },
      [&](const Tensor& t) { return (seen = multihead_attn.with_weights(t, memory, memory, memory_mask)).output; });
  return {std::move(output), std::move(seen.weights)};
}

Tensor DecoderLayer::step(const Tensor& x, DecoderLayerCache& cache, const Mask& memory_mask) const {
  return run(
      *this, x, [&](const Tensor& t) { return self_attn.step(t, cache.self); },
      [&](const Tensor& t) { return multihead_attn.attend(t, cache.memory, memory_mask); });
}

Decoder::Decoder(const LayerOptions& options, std::int64_t layer_count, bool final_norm) {
  for (std::int64_t i = 0; i < layer_count; ++i) layers.emplace_back(options);
  if (final_norm) norm.emplace(options.embed, LayerNormOptions{.eps = options.eps, .bias = options.bias});
}

Tensor Decoder::operator()(const Tensor& x, const Tensor& memory, const Mask& target_mask,
                           const Mask& memory_mask) const {
  Tensor y = x;
  for (const DecoderLayer& layer : layers) y = layer(y, memory, target_mask, memory_mask);
  return norm ? (*norm)(y) : y;
}

Attended Decoder::with_weights(const Tensor& x, const Tensor& memory, const Mask& target_mask,
                               const Mask& memory_mask) const {
  Attended last{x, {}};
  for (const DecoderLayer& layer : layers) {
    if (&layer == &layers.back()) last = layer.with_weights(last.output, memory, target_mask, memory_mask);
    else last.output = layer(last.output, memory, target_mask, memory_mask);
  }
  if (norm) last.output = (*norm)(last.output);
  return last;
}

DecoderCache Decoder::start(const Tensor& memory) const {
  DecoderCache cache;
  for (const DecoderLayer& layer : layers) cache.layers.push_back({{}, layer.multihead_attn.remember(memory, memory)});
  return cache;
}

Tensor Decoder::step(const Tensor& x, DecoderCache& cache, const Mask& memory_mask) const {
  if (cache.layers.size() != layers.size())
    fail("Decoder: a cache of {} layers for a decoder of {}; make it with start(memory)", cache.layers.size(),
         layers.size());
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) y = layers[i].step(y, cache.layers[i], memory_mask);
  return norm ? (*norm)(y) : y;
}

}  // namespace gradus::nn

#include "nn/gpt.hpp"

#include "nn/init.hpp"

#include <cmath>

namespace gradus::nn {
namespace {

constexpr double deviation = 0.02;

Linear drawn(std::int64_t in, std::int64_t out, bool bias, double scale = 1) {
  Linear layer(in, out, false);
  layer.weight = normal_parameter({out, in}, deviation * scale);
  if (bias) layer.bias = constant_parameter({out}, 0);
  return layer;
}

/// For what is added to the residual stream: 2 such terms a layer keep its variance independent of the depth.
double residual_scale(const GPTOptions& o) { return 1 / std::sqrt(2.0 * static_cast<double>(o.layers)); }

std::int64_t hidden(const GPTOptions& o) { return o.feedforward ? o.feedforward : 4 * o.width; }

}  // namespace

CausalSelfAttention::CausalSelfAttention(const GPTOptions& o)
    : c_attn(drawn(o.width, 3 * o.heads * head_width("GPT", o.width, o.heads), o.bias)),
      c_proj(drawn(o.width, o.width, o.bias, residual_scale(o))),
      dropout(o.dropout),
      heads(o.heads) {}

Tensor CausalSelfAttention::operator()(const Tensor& x) const {
  const Projected p = project_packed(x, c_attn.weight, c_attn.bias, heads);
  return c_proj(merge_heads(attention(p.q, p.k, p.v, {}, {}, true, {}, dropout.active())));
}

Tensor CausalSelfAttention::step(const Tensor& x, KeyValueCache& cache) const {
  const Projected p = project_packed(x, c_attn.weight, c_attn.bias, heads);
  cache.append(p.k, p.v);
  const Mask visible = with_causal({}, x.size(-2), cache.length());
  return c_proj(merge_heads(attention(p.q, cache.keys(), cache.values(), visible, {}, false, {}, dropout.active())));
}

GPTFeedForward::GPTFeedForward(const GPTOptions& o)
    : c_fc(drawn(o.width, hidden(o), o.bias)), c_proj(drawn(hidden(o), o.width, o.bias, residual_scale(o))) {}

GPTBlock::GPTBlock(const GPTOptions& o)
    : ln_1(o.width, {.bias = o.bias}), attn(o), ln_2(o.width, {.bias = o.bias}), mlp(o), dropout(o.dropout) {}

Tensor GPTBlock::operator()(const Tensor& x) const {
  const Tensor y = x + dropout(attn(ln_1(x)));
  return y + dropout(mlp(ln_2(y)));
}

Tensor GPTBlock::step(const Tensor& x, KeyValueCache& cache) const {
  const Tensor y = x + dropout(attn.step(ln_1(x), cache));
  return y + dropout(mlp(ln_2(y)));
}

GPT::GPT(const GPTOptions& o)
    : wte(o.vocabulary, o.width, {}, deviation),
      wpe(o.context, o.width, deviation),
      dropout(o.dropout),
      ln_f(o.width, {.bias = o.bias}) {
  for (std::int64_t i = 0; i < o.layers; ++i) h.emplace_back(o);
  if (!o.tied) lm_head = drawn(o.width, o.vocabulary, false);
}

Tensor GPT::head(const Tensor& x) const { return lm_head ? (*lm_head)(x) : linear(x, wte.weight); }

Tensor GPT::operator()(const Tensor& tokens) const {
  Tensor x = dropout(wpe(wte(tokens)));
  for (const GPTBlock& block : h) x = block(x);
  return head(ln_f(x));
}

GPTCache GPT::start() const { return {std::vector<KeyValueCache>(h.size())}; }

Tensor GPT::step(const Tensor& tokens, GPTCache& cache) const {
  if (cache.layers.size() != h.size())
    fail("GPT: a cache of {} layers for a model of {}; make it with start()", cache.layers.size(), h.size());
  Tensor x = dropout(wpe(wte(tokens), cache.length()));
  for (std::size_t i = 0; i < h.size(); ++i) x = h[i].step(x, cache.layers[i]);
  return head(ln_f(x));
}

}  // namespace gradus::nn

#pragma once
#include "nn/cache.hpp"
#include "nn/dropout.hpp"
#include "nn/embedding.hpp"
#include "nn/heads.hpp"
#include "nn/layer_norm.hpp"
#include "nn/linear.hpp"
#include "nn/positions.hpp"

namespace gradus::nn {

struct GPTOptions {
  std::int64_t vocabulary = 0;
  std::int64_t context = 128;  ///< the longest input
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t feedforward = 0;  ///< 0: four times the width
  double dropout = 0;            ///< after the embeddings, of the attention weights, and of both sublayers
  bool bias = true;              ///< of linear layers and norms
  bool tied = true;              ///< the head is wte; else lm_head, without bias
};

/// Causal self-attention with GPT-2's names: c_attn [3C, C] makes queries, keys and values.
struct CausalSelfAttention {
  Linear c_attn, c_proj;
  Dropout dropout;
  std::int64_t heads;

  explicit CausalSelfAttention(const GPTOptions& options);
  Tensor operator()(const Tensor& x) const;
  /// New positions after those in the cache.
  Tensor step(const Tensor& x, KeyValueCache& cache) const;
  void parts(auto&& f) {
    f("c_attn", c_attn);
    f("c_proj", c_proj);
    f("dropout", dropout);
  }
};

/// c_proj(gelu_tanh(c_fc(x))).
struct GPTFeedForward {
  Linear c_fc, c_proj;

  explicit GPTFeedForward(const GPTOptions& options);
  Tensor operator()(const Tensor& x) const { return c_proj(c_fc(x, Activation::gelu_tanh)); }
  void parts(auto&& f) {
    f("c_fc", c_fc);
    f("c_proj", c_proj);
  }
};

/// x + attn(ln_1(x)), then x + mlp(ln_2(x)).
struct GPTBlock {
  LayerNorm ln_1;
  CausalSelfAttention attn;
  LayerNorm ln_2;
  GPTFeedForward mlp;
  Dropout dropout;

  explicit GPTBlock(const GPTOptions& options);
  Tensor operator()(const Tensor& x) const;
  Tensor step(const Tensor& x, KeyValueCache& cache) const;
  void parts(auto&& f) {
    f("ln_1", ln_1);
    f("attn", attn);
    f("ln_2", ln_2);
    f("mlp", mlp);
    f("dropout", dropout);
  }
};

/// The keys and values of the tokens so far, one entry for each layer.
struct GPTCache {
  std::vector<KeyValueCache> layers;
  std::int64_t length() const { return layers.empty() ? 0 : layers.front().length(); }
};

/// A decoder-only language model (Radford et al. 2019): tokens i64 [..., T] to logits [..., T, vocabulary], each from
/// the tokens up to there. Pre-norm, tanh-approximated gelu, learned positions. Matrices and tables from N(0, 0.02^2),
/// those that end a residual branch (c_proj) from N(0, 0.02^2 / (2 layers)), biases 0. Linear weights are [out, in],
/// the transpose of what GPT-2's own files hold.
struct GPT {
  Embedding wte;
  LearnedPositions wpe;
  Dropout dropout;
  std::vector<GPTBlock> h;
  LayerNorm ln_f;
  std::optional<Linear> lm_head;  ///< unless tied

  explicit GPT(const GPTOptions& options);
  /// Error, naming the context, when there are more tokens than that.
  Tensor operator()(const Tensor& tokens) const;
  /// An empty cache, and the logits of new tokens [..., L] after those in it: the same as the pass over all of them.
  GPTCache start() const;
  Tensor step(const Tensor& tokens, GPTCache& cache) const;
  std::int64_t context() const { return wpe.weight.size(0); }
  void parts(auto&& f) {
    f("wte", wte);
    f("wpe", wpe);
    f("dropout", dropout);
    f("h", h);
    f("ln_f", ln_f);
    f("lm_head", lm_head);
  }

 private:
  Tensor head(const Tensor& x) const;
};

}  // namespace gradus::nn

#pragma once
#include "nn/feed_forward.hpp"

namespace gradus::nn {

/// The options that the layers of encoders and decoders share. Defaults are those of torch.nn.Transformer.
struct LayerOptions {
  std::int64_t embed = 512;
  std::int64_t heads = 8;
  std::int64_t feedforward = 2048;
  double dropout = 0.1;                       ///< of each sublayer's output, and inside the feed-forward layer
  std::optional<double> attention_dropout{};  ///< of the attention weights; `dropout` unless given
  Nonlinearity activation = Nonlinearity::relu;
  bool norm_first = false;  ///< pre-norm: x + f(norm(x)); else post-norm: norm(x + f(x))
  bool bias = true;         ///< of linear layers and norms
  double eps = 1e-5;        ///< of the norms
};

}  // namespace gradus::nn

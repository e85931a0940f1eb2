#pragma once
#include "nn/decoder.hpp"
#include "nn/encoder.hpp"

namespace gradus::nn {

/// Which positions may be attended to, true = may: source on [S, S], target on [T, T], memory on [T, S].
struct TransformerMasks {
  Mask source{}, target{}, memory{};
};

/// Encoder and decoder, each with a final norm in both norm orders, on embedded sequences [..., S, embed] and
/// [..., T, embed] (Vaswani et al. 2017). Names and defaults as torch.nn.Transformer; all matrices Xavier uniform.
struct Transformer {
  Encoder encoder;
  Decoder decoder;

  explicit Transformer(const LayerOptions& options = {}, std::int64_t encoder_layers = 6,
                       std::int64_t decoder_layers = 6);
  /// `{.target = causal()}` is the usual mask; padding in the source is to be hidden in source and memory alike.
  Tensor operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks = {}) const;
  void parts(auto&& f) {
    f("encoder", encoder);
    f("decoder", decoder);
  }
};

}  // namespace gradus::nn

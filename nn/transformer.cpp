#include "nn/transformer.hpp"

#include "nn/init.hpp"

namespace gradus::nn {

Transformer::Transformer(const LayerOptions& options, std::int64_t encoder_layers, std::int64_t decoder_layers)
    : encoder(options, encoder_layers, true), decoder(options, decoder_layers, true) {
  xavier_uniform(*this);
}

Tensor Transformer::operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks) const {
  return decoder(target, encoder(source, masks.source), masks.target, masks.memory);
}

}  // namespace gradus::nn

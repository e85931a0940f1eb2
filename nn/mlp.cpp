#include "nn/mlp.hpp"

namespace gradus::nn {

MLP::MLP(const std::vector<std::int64_t>& widths, const MLPOptions& options)
    : activation(options.activation), dropout(options.dropout) {
  if (widths.size() < 2)
    fail("MLP: {} widths; give that of the input, of hidden layers, and of the output", widths.size());
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) layers.emplace_back(widths[i], widths[i + 1], options.bias);
}

Tensor MLP::operator()(const Tensor& x) const {
  Tensor y = x;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) y = dropout(layers[i](y, activation));
  return layers.back()(y);
}

}  // namespace gradus::nn

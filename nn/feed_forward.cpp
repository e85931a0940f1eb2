#include "nn/feed_forward.hpp"

namespace gradus::nn {
namespace {
/// What `linear` computes along with the first layer; silu is the gate of swiglu.
Activation fused(Nonlinearity f) {
  switch (f) {
    case Nonlinearity::relu: return Activation::relu;
    case Nonlinearity::gelu: return Activation::gelu;
    case Nonlinearity::gelu_tanh: return Activation::gelu_tanh;
    case Nonlinearity::silu:
    case Nonlinearity::swiglu: break;
  }
  return Activation::silu;
}
}  // namespace

FeedForward::FeedForward(std::int64_t width, std::int64_t hidden, const FeedForwardOptions& options)
    : linear1(width, hidden, options.bias),
      linear2(hidden, width, options.bias),
      dropout(options.dropout),
      activation(options.activation) {
  if (activation == Nonlinearity::swiglu) linear3.emplace(width, hidden, options.bias);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const Tensor h = linear1(x, fused(activation));
  return linear2(dropout(linear3 ? h * (*linear3)(x) : h));
}

}  // namespace gradus::nn

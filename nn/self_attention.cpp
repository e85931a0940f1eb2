#include "nn/self_attention.hpp"

namespace gradus::nn {
namespace {
std::int64_t inner_width(std::int64_t width, const SelfAttentionOptions& options) {
  return options.head_width ? options.head_width : width;
}
}  // namespace

SelfAttention::SelfAttention(std::int64_t width, const SelfAttentionOptions& options)
    : query(width, inner_width(width, options), options.bias),
      key(width, inner_width(width, options), options.bias),
      value(width, inner_width(width, options), options.bias) {}

Attended SelfAttention::operator()(const Tensor& x, const Mask& mask, bool causal) const {
  const Tensor q = query(x), k = key(x);
  return {attention(q, k, value(x), mask, {}, causal), attention_weights(q, k, mask, {}, causal)};
}

}  // namespace gradus::nn

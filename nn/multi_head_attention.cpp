#include "nn/multi_head_attention.hpp"

#include "nn/init.hpp"

namespace gradus::nn {
namespace {
std::int64_t checked_width(std::int64_t embed, std::int64_t heads) {
  return heads * head_width("MultiHeadAttention", embed, heads);
}
}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t embed, std::int64_t head_count,
                                       const MultiHeadAttentionOptions& options)
    : out_proj(checked_width(embed, head_count), embed, options.bias), dropout(options.dropout), heads(head_count) {
  const std::int64_t kdim = options.kdim.value_or(embed), vdim = options.vdim.value_or(embed);
  if (kdim == embed && vdim == embed) {
    in_proj_weight = xavier_parameter(3 * embed, embed);
  } else {
    q_proj_weight = xavier_parameter(embed, embed);
    k_proj_weight = xavier_parameter(embed, kdim);
    v_proj_weight = xavier_parameter(embed, vdim);
  }
  if (!options.bias) return;
  in_proj_bias = constant_parameter({3 * embed}, 0);
  out_proj.bias = constant_parameter({embed}, 0);
}

/// Queries (0), keys (1) or values (2) alone.
Tensor MultiHeadAttention::project(const Tensor& x, int which) const {
  if (in_proj_weight.defined()) return project_part(x, in_proj_weight, in_proj_bias, heads, which);
  const Tensor* const own[] = {&q_proj_weight, &k_proj_weight, &v_proj_weight};
  const std::int64_t embed = out_proj.weight.size(0), begin = which * embed;
  const Tensor bias = in_proj_bias.defined() ? slice(in_proj_bias, 0, begin, begin + embed) : Tensor{};
  return split_heads(linear(x, *own[which], bias), heads);
}

Projected MultiHeadAttention::project(const Tensor& q, const Tensor& k, const Tensor& v) const {
  if (in_proj_weight.defined() && same_tensor(q, k) && same_tensor(k, v))
    return project_packed(q, in_proj_weight, in_proj_bias, heads);
  return {project(q, 0), project(k, 1), project(v, 2)};
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Mask& mask, bool causal) const {
  return (*this)(x, x, x, mask, causal);
}

Tensor MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                                      bool causal) const {
  const Projected p = project(q, k, v);
  return out_proj(merge_heads(attention(p.q, p.k, p.v, mask, {}, causal, {}, dropout.active())));
}

Attended MultiHeadAttention::with_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                                          bool causal, bool average) const {
  const Projected p = project(q, k, v);
  const Tensor weights = attention_weights(p.q, p.k, mask, {}, causal);
  const Tensor output = attention(p.q, p.k, p.v, mask, {}, causal, {}, dropout.active());
  return {out_proj(merge_heads(output)), average ? mean(weights, -3) : weights};
}

Tensor MultiHeadAttention::step(const Tensor& x, KeyValueCache& cache, const Mask& mask) const {
  const Projected p = project(x, x, x);
  cache.append(p.k, p.v);
  const Mask visible = with_causal(mask, x.size(-2), cache.length());
  return out_proj(merge_heads(attention(p.q, cache.keys(), cache.values(), visible, {}, false, {}, dropout.active())));
}

KeyValueCache MultiHeadAttention::remember(const Tensor& k, const Tensor& v) const {
  return {project(k, 1), project(v, 2)};
}

Tensor MultiHeadAttention::attend(const Tensor& q, const KeyValueCache& memory, const Mask& mask) const {
  const Tensor output = attention(project(q, 0), memory.keys(), memory.values(), mask, {}, false, {}, dropout.active());
  return out_proj(merge_heads(output));
}

}  // namespace gradus::nn

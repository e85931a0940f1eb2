#pragma once
#include "core/tensor.hpp"
#include "core/mask.hpp"

// What the attention modules share: between one wide axis and heads. Both directions are views where the layout allows.
namespace gradus::nn {

/// An output with the attention weights behind it, [..., heads, L, S] or [..., L, S].
struct Attended {
  Tensor output, weights;
};

/// Queries, keys and values, [..., heads, length, head width] each.
struct Projected {
  Tensor q, k, v;
};

/// The width of one head. Error, naming both numbers, unless `heads` divides `width`.
std::int64_t head_width(const char* module, std::int64_t width, std::int64_t heads);
/// [..., T, H*D] -> [..., H, T, D].
Tensor split_heads(const Tensor& x, std::int64_t heads);
/// [..., H, T, D] -> [..., T, H*D].
Tensor merge_heads(const Tensor& x);
/// x W^T + b with W [3E, E] (queries, keys, values), split into heads.
Projected project_packed(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t heads);
/// The queries (0), keys (1) or values (2) of that alone.
Tensor project_part(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t heads, int which);
/// `mask`, and for the last `queries` of `keys` positions no look ahead.
Mask with_causal(const Mask& mask, std::int64_t queries, std::int64_t keys);

}  // namespace gradus::nn

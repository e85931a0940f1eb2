#pragma once
#include "nn/dropout.hpp"
#include "nn/layer_norm.hpp"
#include "ops/ops.hpp"

namespace gradus::nn {

/// One sublayer f with its residual path. Pre-norm: x + dropout(f(norm(x))) (Xiong et al. 2020);
/// post-norm: norm(x + dropout(f(x))) (Vaswani et al. 2017).
template <class F>
Tensor residual(const Tensor& x, const LayerNorm& norm, const Dropout& dropout, bool norm_first, F&& f) {
  if (norm_first) return x + dropout(f(norm(x)));
  return norm(x + dropout(f(x)));
}

}  // namespace gradus::nn

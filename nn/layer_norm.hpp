#pragma once
#include "nn/module.hpp"

namespace gradus::nn {

struct LayerNormOptions {
  double eps = 1e-5;   ///< added to the variance, inside the root
  bool affine = true;  ///< false: neither weight nor bias
  bool bias = true;    ///< false: weight alone
};

/// y = (x - mean) / sqrt(var + eps) * weight + bias over the last axis (Ba, Kiros and Hinton 2016).
struct LayerNorm {
  Tensor weight;  ///< [width], starts as 1
  Tensor bias;    ///< [width], starts as 0
  double eps;

  explicit LayerNorm(std::int64_t width, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  void parts(auto&& f) {
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace gradus::nn

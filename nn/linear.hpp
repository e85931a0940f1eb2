#pragma once
#include "nn/module.hpp"
#include "ops/ops.hpp"

namespace gradus::nn {

/// y = activation(x W^T + b) over the last axis: [..., in] -> [..., out].
struct Linear {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out]; undefined without

  /// Both drawn from U(-1/sqrt(in), 1/sqrt(in)), as PyTorch does.
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true);
  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weight, bias, activation);
  }
  void parts(auto&& f) {
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace gradus::nn

#pragma once
#include "nn/module.hpp"

namespace gradus::nn {

/// y = x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang and Sennrich 2019). PyTorch's default eps is the
/// machine epsilon of the dtype; give it where its numbers are to be met.
struct RMSNorm {
  Tensor weight;  ///< [width], starts as 1
  double eps;

  explicit RMSNorm(std::int64_t width, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const;
  void parts(auto&& f) { f("weight", weight); }
};

}  // namespace gradus::nn

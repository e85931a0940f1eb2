#include "nn/layer_norm.hpp"

#include "nn/init.hpp"
#include "ops/ops.hpp"

namespace gradus::nn {

LayerNorm::LayerNorm(std::int64_t width, const LayerNormOptions& options) : eps(options.eps) {
  if (options.affine) weight = constant_parameter({width}, 1);
  if (options.affine && options.bias) bias = constant_parameter({width}, 0);
}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

}  // namespace gradus::nn

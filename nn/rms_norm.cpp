#include "nn/rms_norm.hpp"

#include "nn/init.hpp"
#include "ops/ops.hpp"

namespace gradus::nn {

RMSNorm::RMSNorm(std::int64_t width, double epsilon) : weight(constant_parameter({width}, 1)), eps(epsilon) {}

Tensor RMSNorm::operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }

}  // namespace gradus::nn

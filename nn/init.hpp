#pragma once
#include "nn/module.hpp"

// Fresh parameters (f32 leaves), drawn from the default generator: gradus::seed decides them.
namespace gradus::nn {

/// U(-bound, bound).
Tensor uniform_parameter(const Shape& shape, double bound);
/// N(0, deviation^2).
Tensor normal_parameter(const Shape& shape, double deviation);
/// One value everywhere.
Tensor constant_parameter(const Shape& shape, double value);
/// [out, in], U(-b, b) with b = sqrt(6 / (in + out)): Xavier uniform (Glorot and Bengio 2010).
Tensor xavier_parameter(std::int64_t out, std::int64_t in);

/// Draws every matrix among the parameters of m anew by Xavier uniform, as torch.nn.Transformer does.
void xavier_uniform(AnyModule m);

}  // namespace gradus::nn

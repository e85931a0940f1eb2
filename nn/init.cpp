#include "nn/init.hpp"

#include "core/mode.hpp"
#include "core/random.hpp"

#include <cmath>

namespace gradus::nn {
namespace {
double xavier_bound(std::int64_t out, std::int64_t in) {
  return out + in > 0 ? std::sqrt(6.0 / static_cast<double>(out + in)) : 0;
}
}  // namespace

Tensor uniform_parameter(const Shape& shape, double bound) { return uniform(shape, -bound, bound).requires_grad(true); }

Tensor normal_parameter(const Shape& shape, double deviation) {
  const NoGrad guard;
  Tensor x = randn(shape);
  x *= deviation;
  return x.requires_grad(true);
}

Tensor constant_parameter(const Shape& shape, double value) { return full(shape, value).requires_grad(true); }

Tensor xavier_parameter(std::int64_t out, std::int64_t in) {
  return uniform_parameter({out, in}, xavier_bound(out, in));
}

void xavier_uniform(AnyModule m) {
  const NoGrad guard;
  for (auto& [name, parameter] : named_parameters(m)) {
    if (parameter.rank() != 2) continue;
    const double bound = xavier_bound(parameter.size(0), parameter.size(1));
    assign(parameter, uniform(parameter.shape(), -bound, bound, parameter.dtype()));
  }
}

}  // namespace gradus::nn

#include "nn/dropout.hpp"

#include "ops/ops.hpp"

namespace gradus::nn {

Dropout::Dropout(double probability) : p(probability) {
  if (!(p >= 0 && p <= 1)) fail("Dropout: probability {} is not within [0, 1]; give the fraction to drop", p);
}

Tensor Dropout::operator()(const Tensor& x) const { return active() > 0 ? dropout(x, p) : x; }

}  // namespace gradus::nn

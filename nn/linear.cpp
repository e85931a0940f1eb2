#include "nn/linear.hpp"

#include "nn/init.hpp"

#include <cmath>

namespace gradus::nn {

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias) {
  const double bound = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  weight = uniform_parameter({out, in}, bound);
  if (with_bias) bias = uniform_parameter({out}, bound);
}

}  // namespace gradus::nn

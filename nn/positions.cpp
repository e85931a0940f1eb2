#include "nn/positions.hpp"

#include "nn/init.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus::nn {
namespace {

/// x + rows offset ... offset + T of the table.
Tensor add_rows(const char* module, const Tensor& x, const Tensor& table, std::int64_t offset) {
  if (x.rank() < 2 || x.size(-1) != table.size(1))
    fail("{}: x {} with a table {}; give [..., time, {}]", module, x.shape(), table.shape(), table.size(1));
  const std::int64_t end = offset + x.size(-2);
  if (offset < 0 || end > table.size(0))
    fail("{}: positions {} to {} but the maximum length is {}; shorten the input or build it with a larger maximum",
         module, offset, end - 1, table.size(0));
  return x + (end - offset == table.size(0) ? table : slice(table, 0, offset, end));
}

}  // namespace

Tensor sinusoidal_positions(std::int64_t length, std::int64_t width, DType dtype) {
  Tensor table({length, width}, DType::f64);
  double* out = table.fresh_data<double>();
  for (std::int64_t t = 0; t < length; ++t)
    for (std::int64_t j = 0; j < width; ++j) {
      const double pair = static_cast<double>(j / 2), t_real = static_cast<double>(t);
      const double angle = t_real / std::pow(1e4, 2 * pair / static_cast<double>(width));
      *out++ = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return cast(table, dtype);
}

SinusoidalPositions::SinusoidalPositions(std::int64_t max_length, std::int64_t width)
    : single_(sinusoidal_positions(max_length, width)), double_(sinusoidal_positions(max_length, width, DType::f64)) {}

Tensor SinusoidalPositions::operator()(const Tensor& x, std::int64_t offset) const {
  return add_rows("SinusoidalPositions", x, x.dtype() == DType::f64 ? double_ : single_, offset);
}

LearnedPositions::LearnedPositions(std::int64_t max_length, std::int64_t width, double deviation)
    : weight(normal_parameter({max_length, width}, deviation)) {}

Tensor LearnedPositions::operator()(const Tensor& x, std::int64_t offset) const {
  return add_rows("LearnedPositions", x, weight, offset);
}

}  // namespace gradus::nn

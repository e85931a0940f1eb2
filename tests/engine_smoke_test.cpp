#include "core/node.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

using namespace gradus;

TEST_CASE("smoke") {
  Tensor x = tensor({1, 2, 3}, DType::f64).requires_grad(true);
  Tensor y = sum(x * x + x);
  backward(y);
  CHECK(x.grad().to_vector<double>() == std::vector<double>{3, 5, 7});
}

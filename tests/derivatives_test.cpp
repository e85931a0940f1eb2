// jvp, jacobian, hessian and hvp against derivatives known by heart. Tolerance 1e-12: a handful of roundings in f64.
#include "core/derivatives.hpp"
#include "core/random.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

using namespace gradus;
using doctest::Contains;

namespace {

void check_close(const Tensor& x, const Shape& shape, const std::vector<double>& expected) {
  REQUIRE(x.shape() == shape);
  const std::vector<double> found = x.to_vector<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

Tensor f64(std::initializer_list<double> values) { return tensor(values, DType::f64); }

}  // namespace

TEST_CASE("the Jacobian of a matrix product is the matrix") {
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64);
  const auto f = [&](const Tensor& x) { return matmul(a, x); };
  check_close(jacobian(f, f64({7, 8, 9})), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(jvp(f, f64({7, 8, 9}), f64({1, 0, -1})), {2}, {-2, -2});
}

TEST_CASE("the Jacobian has the axes of y, then those of x") {
  const auto f = [](const Tensor& x) { return sum(x * x, 0); };
  const Tensor j = jacobian(f, tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64));
  check_close(j, {3, 2, 3}, {2, 0, 0, 8, 0, 0, 0, 4, 0, 0, 10, 0, 0, 0, 6, 0, 0, 12});
}

TEST_CASE("the Hessian of x0^2 x1 + x1^3, and its product with a vector") {
  const auto f = [](const Tensor& x) { return x[0] * x[0] * x[1] + x[1] * x[1] * x[1]; };
  const Tensor x = f64({2, 3});
  check_close(hessian(f, x), {2, 2}, {6, 4, 4, 18});
  check_close(hvp(f, x, f64({1, -1})), {2}, {2, -14});
}

TEST_CASE("jvp, the Jacobian and central differences agree on a softmax") {
  Generator generator(1);
  const Tensor x = randn({2, 4}, DType::f64, generator), v = randn({2, 4}, DType::f64, generator);
  const auto f = [](const Tensor& t) { return softmax(t) * t; };
  const Tensor j = jacobian(f, x), directional = jvp(f, x, v);
  check_close(matmul(j.reshape({8, 8}), v.reshape({8})), {8}, directional.to_vector<double>());
  const double h = 1e-5;
  const Tensor differences = (f(x + v * h) - f(x - v * h)) / (2 * h);
  for (int i = 0; i < 8; ++i)  // h^2 and eps / h: 1e-10 and 1e-11
    CHECK(std::abs(directional.to_vector<double>()[static_cast<std::size_t>(i)] -
                   differences.to_vector<double>()[static_cast<std::size_t>(i)]) < 1e-8);
}

TEST_CASE("derivatives of constant and linear functions are zeros of the right shape") {
  const Tensor x = f64({1, 2});
  check_close(jacobian([](const Tensor&) { return ones({3}, DType::f64); }, x), {3, 2}, {0, 0, 0, 0, 0, 0});
  check_close(jvp([](const Tensor&) { return ones({3}, DType::f64); }, x, x), {3}, {0, 0, 0});
  check_close(hessian([](const Tensor& t) { return sum(t * 3); }, x), {2, 2}, {0, 0, 0, 0});
  check_close(hvp([](const Tensor& t) { return sum(t * 3); }, x, x), {2}, {0, 0});
}

TEST_CASE("derivatives work inside NoGrad and leave the inputs alone") {
  const NoGrad guard;
  const Tensor x = f64({1, 2});
  check_close(hessian([](const Tensor& t) { return sum(t * t); }, x), {2, 2}, {2, 0, 0, 2});
  CHECK(!x.requires_grad());
}

TEST_CASE("wrong shapes and several results are refused with their numbers") {
  const Tensor x = f64({1, 2});
  const auto twice = [](const Tensor& t) { return t * 2; };
  CHECK_THROWS_WITH_AS(hessian(twice, x), Contains("shape [2]; it must have one element"), Error);
  CHECK_THROWS_WITH_AS(jvp(twice, x, f64({1, 2, 3})), Contains("[3]"), Error);
}

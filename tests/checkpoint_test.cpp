#include "core/checkpoint.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/grad.hpp"
#include "core/random.hpp"
#include "core/storage.hpp"
#include "nn/linear.hpp"
#include "ops/ops.hpp"

using namespace gradus;

namespace {

std::vector<double> numbers(const Tensor& x) { return x.to_vector<double>(); }

}  // namespace

TEST_CASE("a checkpointed function has the value and all gradients of the plain one, bit for bit") {
  const Tensor x = randn({3, 4}, DType::f64).requires_grad(true), w = randn({4, 4}, DType::f64).requires_grad(true);
  const auto f = [&](const Tensor& t) { return tanh(matmul(t, w)) * sigmoid(matmul(t, w)); };
  const Tensor g = randn({3, 4}, DType::f64);
  const auto plain = grad(f(x), {x, w}, g), again = grad(checkpoint(f, x), {x, w}, g);
  CHECK(numbers(checkpoint(f, x)) == numbers(f(x)));
  for (std::size_t i = 0; i < 2; ++i) CHECK(numbers(plain[i]) == numbers(again[i]));
}

TEST_CASE("dropout inside a checkpoint drops the same elements again, and later draws are not disturbed") {
  const Tensor x = ones({64}, DType::f64).requires_grad(true);
  seed(3);
  const Tensor y = checkpoint([](const Tensor& t) { return dropout(t * 2.0, 0.5); }, x);
  const Tensor next = randn({2});
  CHECK(numbers(grad(sum(y), x)) == numbers(y));  // y is 4 or 0, and so is its slope
  const Tensor after = randn({2});
  seed(3);
  (void)dropout(x * 2.0, 0.5);
  CHECK(numbers(randn({2})) == numbers(next));
  CHECK(numbers(randn({2})) == numbers(after));
}

TEST_CASE("gradients of gradients go through a checkpoint") {
  const Tensor x = randn({5}, DType::f64).requires_grad(true);
  const auto f = [](const Tensor& t) { return exp(t) * t; };
  const Tensor first = grad(sum(checkpoint(f, x)), x, {}, {.create_graph = true});
  const Tensor plain = grad(sum(f(x)), x, {}, {.create_graph = true});
  CHECK(numbers(grad(sum(first * first), x)) == numbers(grad(sum(plain * plain), x)));
}

TEST_CASE("a chain of checkpointed layers keeps a fraction of the memory, and trains the same parameters") {
  std::vector<nn::Linear> layers;
  for (int i = 0; i < 24; ++i) layers.emplace_back(64, 64);
  const Tensor x = randn({256, 64});
  const auto block = [&](int begin) {
    return [&layers, begin](const Tensor& t) {
      Tensor y = t;
      for (int i = begin; i < begin + 4; ++i) y = tanh(layers[static_cast<std::size_t>(i)](y)) + y;
      return y;
    };
  };
  const auto peak_of = [&](bool recompute) {
    reset_peak_memory();
    const std::int64_t before = memory_use().live;
    Tensor y = x;
    for (int begin = 0; begin < 24; begin += 4) y = recompute ? checkpoint(block(begin), y) : block(begin)(y);
    backward(sum(y * y));
    return memory_use().peak - before;
  };
  const std::int64_t plain = peak_of(false);
  const auto expected = numbers(layers[3].weight.grad());
  for (nn::Linear& layer : layers) layer.weight.zero_grad(), layer.bias.zero_grad();
  const std::int64_t recomputed = peak_of(true);
  CHECK(numbers(layers[3].weight.grad()) == expected);
  CHECK(recomputed * 2 < plain);
}

TEST_CASE("a checkpoint refuses what was recorded outside") {
  const Tensor w = randn({3}).requires_grad(true), outside = exp(w);
  CHECK_THROWS_WITH_AS(checkpoint([&](const Tensor& t) { return t * outside; }, randn({3})),
                       doctest::Contains("make it part of x"), Error);
}

TEST_CASE("without gradients a checkpoint is just the function") {
  const Tensor x = randn({3});
  CHECK_FALSE(checkpoint([](const Tensor& t) { return exp(t); }, x).requires_grad());
  const NoGrad guard;
  const Tensor w = randn({3}).requires_grad(true);
  CHECK_FALSE(checkpoint([&](const Tensor& t) { return t * w; }, x).requires_grad());
}

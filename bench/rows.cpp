// Single ops on 4096 x 1024, forward and backward with a given cotangent: memory and vector arithmetic, no products.
#include "bench/workloads.hpp"
#include "ops/ops.hpp"

namespace gradus::bench {
namespace {

using Function = Tensor (*)(const std::vector<Tensor>&);

// One op on x [4096, 1024] and further inputs [1024], all of which require grad.
Prepared row_op(Function f, int vectors, const Setup& setup) {
  seed(0);
  const std::int64_t rows = setup.small ? 8 : 4096, columns = setup.small ? 16 : 1024;
  std::vector<Tensor> x{randn({rows, columns}).requires_grad(true)};
  for (int i = 0; i < vectors; ++i) x.push_back(randn({columns}).requires_grad(true));
  const Tensor g = randn(f(x).shape());
  return {[=]() mutable {
    for (Tensor& t : x) t.zero_grad();
    backward(f(x), {.seed = g});
  }};
}

// The loss is one number: its cotangent is 1.
Prepared cross_entropy_rows(const Setup& setup) {
  seed(0);
  const std::int64_t rows = setup.small ? 8 : 4096, classes = setup.small ? 16 : 1024;
  Tensor logits = randn({rows, classes}).requires_grad(true);
  const Tensor target = randint(0, classes, {rows});
  return {[=]() mutable {
    logits.zero_grad();
    backward(cross_entropy(logits, target));
  }};
}

Workload named(const char* op, const char* description, Function f, int vectors = 0) {
  return {std::string(op) + "_4096x1024", description, [f, vectors](const Setup& s) { return row_op(f, vectors, s); }};
}

}  // namespace

std::vector<Workload> rows() {
  using Inputs = const std::vector<Tensor>&;
  return {
      named("softmax", "softmax over rows", [](Inputs x) { return softmax(x[0]); }),
      named(
          "layer_norm", "layer norm over rows, with gain and bias",
          [](Inputs x) { return layer_norm(x[0], x[1], x[2]); }, 2),
      named("gelu_tanh", "gelu, tanh form", [](Inputs x) { return gelu_tanh(x[0]); }),
      {"cross_entropy_4096x1024", "cross-entropy of 4096 rows of 1024 classes", cross_entropy_rows},
      named(
          "add_broadcast", "x + b, b [1024]", [](Inputs x) { return x[0] + x[1]; }, 1),
      named("exp", "exp", [](Inputs x) { return exp(x[0]); }),
      named("transpose_copy", "transposed copy", [](Inputs x) { return x[0].T().contiguous(); }),
  };
}

}  // namespace gradus::bench

// Attention alone, forward and backward, 1 x 8 x L x 64, causal.
#include "bench/workloads.hpp"
#include "ops/ops.hpp"

namespace gradus::bench {
namespace {

Prepared attend(std::int64_t length, std::int64_t window_width, const Setup& setup) {
  if (setup.small) length = 32, window_width = window_width ? 8 : 0;
  seed(0);
  const Shape shape{1, 8, length, 64};
  Tensor q = randn(shape).requires_grad(true), k = randn(shape).requires_grad(true),
         v = randn(shape).requires_grad(true);
  const Tensor g = randn(shape);
  const Mask visible = window_width ? window(window_width - 1, 0) : Mask();
  const auto step = [=]() mutable {
    q.zero_grad();
    k.zero_grad();
    v.zero_grad();
    const Tensor y = window_width ? attention(q, k, v, visible) : attention(q, k, v, {}, {}, true);
    backward(y, {.seed = g});
  };
  constexpr std::int64_t tensors = 8;  // q, k, v, y and their gradients
  return {.step = step, .given_bytes = tensors * 4 * shape.numel()};
}

}  // namespace

std::vector<Workload> attentions() {
  return {
      {"sdpa_1024", "causal attention, 1 x 8 x 1024 x 64", [](const Setup& s) { return attend(1024, 0, s); }},
      {"sdpa_4096", "causal attention, 1 x 8 x 4096 x 64", [](const Setup& s) { return attend(4096, 0, s); }},
      {"attention_16384", "causal attention, 1 x 8 x 16384 x 64", [](const Setup& s) { return attend(16384, 0, s); }},
      {"attention_16384_window_256", "attention over the last 256 positions, 1 x 8 x 16384 x 64",
       [](const Setup& s) { return attend(16384, 256, s); }},
  };
}

}  // namespace gradus::bench

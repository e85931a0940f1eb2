#include "bench/workloads.hpp"

#include "ops/ops.hpp"

namespace gradus::bench {
namespace {

// x = x * b + a, a thousand times, then sum, forward and backward: 2,000 ops whose arithmetic is next to nothing.
std::function<void()> chain(std::int64_t elements) {
  seed(0);
  Tensor a = randn({elements}).requires_grad(true);
  Tensor b = uniform({elements}, 0.5, 0.9).requires_grad(true);
  return [a, b]() mutable {
    a.zero_grad();
    b.zero_grad();
    Tensor x = a;
    for (int i = 0; i < 1000; ++i) x = x * b + a;
    backward(sum(x));
  };
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"chain_scalar_1000", "x = x * b + a, 1000 times, on 1 element, sum, backward", [] { return chain(1); }},
      {"chain_64_1000", "x = x * b + a, 1000 times, on 64 elements, sum, backward", [] { return chain(64); }},
  };
  return all;
}

}  // namespace gradus::bench

// The engine's overhead: 2,000 ops forward and as many rules backward, whose arithmetic is next to nothing.
#include "bench/workloads.hpp"
#include "ops/ops.hpp"

namespace gradus::bench {
namespace {

Prepared chain(std::int64_t elements, const Setup& setup) {
  seed(0);
  Tensor a = randn({elements}).requires_grad(true);
  Tensor b = uniform({elements}, 0.5, 0.9).requires_grad(true);
  const int length = setup.small ? 10 : 1000;
  return {[a, b, length]() mutable {
    a.zero_grad();
    b.zero_grad();
    Tensor x = a;
    for (int i = 0; i < length; ++i) x = x * b + a;
    backward(sum(x));
  }};
}

}  // namespace

std::vector<Workload> chains() {
  return {
      {"chain_scalar_1000", "x = x * b + a, 1000 times, on 1 element, sum, backward",
       [](const Setup& s) { return chain(1, s); }},
      {"chain_64_1000", "x = x * b + a, 1000 times, on 64 elements, sum, backward",
       [](const Setup& s) { return chain(64, s); }},
  };
}

}  // namespace gradus::bench

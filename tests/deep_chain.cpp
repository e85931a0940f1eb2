// A graph of a million ops differentiates and dies on a 128 KiB stack: ctest runs this under `ulimit -s 128`.
#include "core/node.hpp"
#include "ops/ops.hpp"

#include <sys/resource.h>

#include <cstdio>

using namespace gradus;

namespace {

int failures = 0;
void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

Tensor chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = y + 1.0;
  return y;
}

}  // namespace

int main() {
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  check(stack.rlim_cur <= 128 * 1024, "the stack limit is 128 KiB (run under `ulimit -s 128`)");
  const int length = 1'000'000;
  Tensor x = full({9}, 0.5, DType::f64).requires_grad(true);
  const std::int64_t nodes = live_nodes();

  { const Tensor dropped = chain(x, length); }
  check(live_nodes() == nodes, "a dropped chain leaves no node");

  backward(sum(chain(x, length)));
  check(x.grad().to_vector<double>() == std::vector<double>(9, 1.0), "backward through the chain gives exactly 1");
  check(live_nodes() == nodes, "backward leaves no node");

  const Tensor y = sum(chain(x, length));
  check(grad(y, x).to_vector<double>() == std::vector<double>(9, 1.0), "grad through the chain gives exactly 1");

  try {
    const Tensor z = chain(x, length);
    (void)(z + zeros({4}, DType::f64));
    check(false, "shapes that do not fit are an error");
  } catch (const Error&) {}
  std::printf("%s\n", failures == 0 ? "a million ops differentiate and die on a 128 KiB stack" : "failed");
  return failures;
}

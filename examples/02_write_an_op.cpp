// An op of your own, in one file: softsign, y = x / (1 + |x|). To make it part of the library copy this file to
// ops/NAME.cpp, leave out main, declare the function in ops/ops.hpp, and build: it is then tested, listed and usable
// everywhere.
#include "core/check.hpp"
#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <fmt/format.h>

namespace gradus {

Tensor softsign(const Tensor& x);  // the declaration; for ops/ it goes into ops/ops.hpp

namespace {

struct Softsign {
  static constexpr OpInfo info{
      .name = "softsign",
      .math = R"(y = x / (1 + |x|))",
      .rule = R"(\bar x = \bar y / (1 + |x|)^2)",
      .derivation = R"(For x > 0, y = 1 - 1 / (1 + x), so y' = 1 / (1 + x)^2; y is odd, so y' is even.)",
      .why_kept = "the rule needs x",
      .numpy = "{x} / (1 + np.abs({x}))"};
  static constexpr Keep keeps =
      Keep::inputs;  // backward reads x: without this line it would be a ghost, and reading it an error

  // The kernel. map_floating runs over any layout and dtype, on all threads; the compiler vectorises it. For
  // exp, log and tanh call math::exp ... of core/vector_math.hpp, which vectorise where the standard library's do not.
  Tensor forward(const Tensor& x) const {
    return map_floating("softsign", x, [](auto v) { return v / (1 + std::abs(v)); });
  }
  // The rule in differentiable ops: second derivatives come from it for free.
  Grads vjp(const Vjp& v) const { return {local_product(v.g, pow(abs(v.x[0]) + 1.0, -2.0))}; }

  // Inputs for the generated tests, and the errors that users must see.
  static void samples(Samples& s) {
    s.add(softsign, s.randn({2, 5})).for_benchmark();
    s.add(softsign, s.randn({0, 3}));
    s.error("dtype i64 is not floating", softsign, s.indices({3}, 5));
  }
};

const Register<Softsign> registered{softsign, {"x"}};

}  // namespace

Tensor softsign(const Tensor& x) { return apply(Softsign{}, x); }

}  // namespace gradus

int main() {
  using namespace gradus;
  Tensor x = tensor({-2, 0.5, 3}, DType::f64).requires_grad(true);
  backward(sum(softsign(x)));
  fmt::print("softsign {}\ngradient {}\n", softsign(x), x.grad());

  // What the generated tests do with it: the rule against central differences, first and second order.
  const TensorFunction f = [](std::span<const Tensor> in) { return softsign(in[0]); };
  const CheckResult first = gradcheck(f, {x.detach()}), second = gradgradcheck(f, {x.detach()});
  fmt::print("first order: {:.1e}, second order: {:.1e}\n", first.difference, second.difference);
  fmt::print("in the registry: {}\n", find_op("softsign")->signature());
  return first.ok && second.ok && std::abs(x.grad().at({2}) - 1.0 / 16) < 1e-12 ? 0 : 1;
}

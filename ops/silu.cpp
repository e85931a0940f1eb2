#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Silu {
  static constexpr OpInfo info{
      .name = "silu",
      .math = R"(y = x \sigma(x))",
      .rule = R"(\bar x = \bar y \odot s (1 + x (1 - s)), s = \sigma(x))",
      .derivation = R"(The logistic function s has slope s (1 - s); the product rule for x s gives s + x s (1 - s).)",
      .why_kept = "the rule needs x",
      .numpy = "{x} / (1 + np.exp(-{x}))"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("silu", x, [](auto v) { return activation::silu(v); });
  }
  // Clipped where the slope has become 0 or 1, so that infinity times 0 does not arise.
  Grads vjp(const Vjp& v) const {
    const Tensor x = clamp(v.x[0], -activation::logistic_bound, activation::logistic_bound);
    const Tensor s = sigmoid(x);
    return {local_product(v.g, s * (1.0 + x * (1.0 - s)))};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {local_product_map(v.g, v.x[0], [](auto x) { return activation::silu_slope(x); })};
  }

  static void samples(Samples& s) {
    s.add(silu, s.randn({2, 5})).for_benchmark();
    s.add(silu, s.randn({}));
    s.add(silu, s.randn({0, 3}));
    s.add(silu, s.tensor({-1000.0, -20.0, 0.0, 1000.0}));
    s.error("dtype i64 is not floating; cast", silu, s.indices({3}, 5));
  }
};

const Register<Silu> registered{silu, {"x"}};

}  // namespace

Tensor silu(const Tensor& x) { return apply(Silu{}, x); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct GeluTanh {
  static constexpr OpInfo info{
      .name = "gelu_tanh",
      .math = R"(y = x (1 + \tanh u) / 2, u = \sqrt{2 / \pi} (x + 0.044715 x^{3}))",
      .rule = R"(\bar x = \bar y \odot (s + x s (1 - s) 2 u'), s = (1 + \tanh u) / 2)",
      .derivation = R"((1 + \tanh u) / 2 = \sigma(2 u) = s, a logistic function with slope s (1 - s) in 2 u. With
u' = \sqrt{2 / \pi} (1 + 3 \cdot 0.044715 x^{2}) the product rule for x s gives s + x s (1 - s) 2 u'.)",
      .why_kept = "the rule needs x",
      .numpy = "0.5 * {x} * (1 + np.tanh(np.sqrt(2 / np.pi) * ({x} + 0.044715 * {x}**3)))"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("gelu_tanh", x, [](auto v) { return activation::gelu_tanh(v); });
  }
  // Clipped where the slope has become 0 or 1, so that infinity times 0 does not arise.
  Grads vjp(const Vjp& v) const {
    const double c = 2 * 0.79788456080286535588;  // 2 sqrt(2 / pi)
    const Tensor x = clamp(v.x[0], -activation::gelu_tanh_bound, activation::gelu_tanh_bound);
    const Tensor square = x * x;
    const Tensor s = sigmoid(c * x * (1.0 + 0.044715 * square));
    return {local_product(v.g, s + x * s * (1.0 - s) * (c * (1.0 + 3 * 0.044715 * square)))};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {local_product_map(v.g, v.x[0], [](auto x) { return activation::gelu_tanh_slope(x); })};
  }

  static void samples(Samples& s) {
    s.add(gelu_tanh, s.randn({2, 5})).for_benchmark();
    s.add(gelu_tanh, s.randn({}));
    s.add(gelu_tanh, s.randn({0, 3}));
    s.add(gelu_tanh, s.tensor({-60.0, -9.0, 0.0, 60.0}));
    s.error("dtype i64 is not floating; cast", gelu_tanh, s.indices({3}, 5));
  }
};

const Register<GeluTanh> registered{gelu_tanh, {"x"}};

}  // namespace

Tensor gelu_tanh(const Tensor& x) { return apply(GeluTanh{}, x); }

}  // namespace gradus

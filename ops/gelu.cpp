#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Gelu {
  static constexpr OpInfo info{
      .name = "gelu",
      .math = R"(y = x \Phi(x))",
      .rule = R"(\bar x = \bar y \odot (\Phi(x) + x \varphi(x)))",
      .derivation =
          R"(\Phi(x) = (1 + \operatorname{erf}(x / \sqrt{2})) / 2 is the standard normal distribution function; its derivative
is the density \varphi(x) = e^{-x^{2} / 2} / \sqrt{2 \pi}. The product rule gives \Phi(x) + x \varphi(x).
(Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.))",
      .why_kept = "the rule needs x",
      .numpy = "{x} * 0.5 * (1 + np.vectorize(math.erf, otypes=[float])({x} / np.sqrt(2)))"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("gelu", x, [](auto v) { return activation::gelu(v); });
  }
  // Clipped where the slope has become 0 or 1, so that infinity times 0 does not arise.
  Grads vjp(const Vjp& v) const {
    const Tensor x = clamp(v.x[0], -activation::normal_bound, activation::normal_bound);
    return {local_product(v.g, normal_cdf(x) + x * (0.39894228040143267794 * exp(-0.5 * (x * x))))};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {local_product_map(v.g, v.x[0], [](auto x) { return activation::gelu_slope(x); })};
  }

  static void samples(Samples& s) {
    s.add(gelu, s.randn({2, 5})).for_benchmark();
    s.add(gelu, s.randn({}));
    s.add(gelu, s.randn({0, 3}));
    s.add(gelu, s.tensor({-60.0, -9.0, 0.0, 60.0}));
    s.error("dtype i64 is not floating; cast", gelu, s.indices({3}, 5));
  }
};

const Register<Gelu> registered{gelu, {"x"}};

}  // namespace

Tensor gelu(const Tensor& x) { return apply(Gelu{}, x); }

}  // namespace gradus

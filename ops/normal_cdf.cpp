#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct NormalCdf {
  static constexpr OpInfo info{
      .name = "normal_cdf",
      .math = R"(y = \Phi(x))",
      .rule = R"(\bar x = \bar y \odot \varphi(x))",
      .derivation =
          R"(\Phi(x) = (1 + \operatorname{erf}(x / \sqrt{2})) / 2 is the probability that a standard normal number is
below x; its derivative is the density \varphi(x) = e^{-x^{2} / 2} / \sqrt{2 \pi}.)",
      .why_kept = "the rule needs x",
      .numpy = "0.5 * (1 + np.vectorize(math.erf, otypes=[float])({x} / np.sqrt(2)))"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("normal_cdf", x, [](auto v) { return activation::normal_cdf(v); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& x = v.x[0];
    return {local_product(v.g, 0.39894228040143267794 * exp(-0.5 * (x * x)))};
  }

  static void samples(Samples& s) {
    s.add(normal_cdf, s.randn({2, 5})).for_benchmark();
    s.add(normal_cdf, s.randn({}));
    s.add(normal_cdf, s.randn({0, 3}));
    s.add(normal_cdf, s.tensor({-30.0, 0.0, 30.0}));
    s.error("dtype i64 is not floating; cast", normal_cdf, s.indices({3}, 5));
  }
};

const Register<NormalCdf> registered{normal_cdf, {"x"}};

}  // namespace

Tensor normal_cdf(const Tensor& x) { return apply(NormalCdf{}, x); }

}  // namespace gradus

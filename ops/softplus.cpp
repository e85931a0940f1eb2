#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Softplus {
  static constexpr OpInfo info{
      .name = "softplus",
      .math = R"(y = \ln(1 + e^{x}))",
      .rule = R"(\bar x = \bar y \odot \sigma(x))",
      .derivation =
          R"(By the chain rule e^{x} / (1 + e^{x}) = \sigma(x). It is computed as \max(x, 0) + \ln(1 + e^{-|x|}), which does not overflow.)",
      .why_kept = "the rule needs x",
      .numpy = "np.logaddexp(0, {x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("softplus", x, [](auto v) { return (v <= 0 ? 0 : v) + math::log1p(math::exp(-std::abs(v))); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, sigmoid(v.x[0]))}; }

  static void samples(Samples& s) {
    s.add(softplus, s.randn({2, 5})).for_benchmark();
    s.add(softplus, s.randn({}));
    s.add(softplus, s.randn({0, 3}));
    s.add(softplus, s.tensor({-1000.0, -20.0, 0.0, 1000.0}));
    s.error("dtype i64 is not floating; cast", softplus, s.indices({3}, 5));
  }
};

const Register<Softplus> registered{softplus, {"x"}};

}  // namespace

Tensor softplus(const Tensor& x) { return apply(Softplus{}, x); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Exp {
  static constexpr OpInfo info{
      .name = "exp",
      .math = R"(y = e^{x})",
      .rule = R"(\bar x = \bar y \odot y)",
      .derivation = R"(The exponential is its own derivative: \partial y / \partial x = e^{x} = y.)",
      .why_kept = "the rule needs y, which is its own derivative",
      .numpy = "np.exp({x})"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("exp", x, [](auto v) { return math::exp(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, v.y)}; }

  static void samples(Samples& s) {
    s.add(exp, s.randn({2, 5})).for_benchmark();
    s.add(exp, s.randn({}));
    s.add(exp, s.randn({0, 3}));
    s.error("dtype i64 is not floating; cast", exp, s.indices({3}, 5));
  }
};

const Register<Exp> registered{exp, {"x"}};

}  // namespace

Tensor exp(const Tensor& x) { return apply(Exp{}, x); }

}  // namespace gradus

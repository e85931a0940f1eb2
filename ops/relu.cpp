#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Relu {
  static constexpr OpInfo info{
      .name = "relu",
      .math = R"(y = \max(x, 0))",
      .rule = R"(\bar x = y > 0 ? \bar y : 0)",
      .derivation =
          R"(y is x where x is positive, with slope 1, and constant elsewhere. At the kink x = 0 the slope is chosen to be 0.)",
      .why_kept = "the rule needs only the sign of y",
      .numpy = "np.maximum({x}, 0)"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("relu", x, [](auto v) { return activation::relu(v); });
  }
  Grads vjp(const Vjp& v) const { return {where(v.y > 0.0, v.g, 0.0)}; }
  // dx = y > 0 ? g : 0
  Grads fused_vjp(const Vjp& v) const {
    return {map_floating("relu", v.g, v.y, [](auto g, auto y) { return y > 0 ? g : decltype(g){0}; })};
  }

  static void samples(Samples& s) {
    s.add(relu, s.randn({2, 5})).for_benchmark();
    s.add(relu, s.randn({}));
    s.add(relu, s.randn({0, 3}));
    s.add(relu, s.tensor({0.0, -1.0, 1.0})).at_kink();
    s.error("dtype i64 is not floating; cast", relu, s.indices({3}, 5));
  }
};

const Register<Relu> registered{relu, {"x"}};

}  // namespace

Tensor relu(const Tensor& x) { return apply(Relu{}, x); }

}  // namespace gradus

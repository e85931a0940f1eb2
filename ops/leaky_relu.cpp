#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct LeakyRelu {
  double slope;
  static constexpr OpInfo info{
      .name = "leaky_relu",
      .math = R"(y = x > 0 ? x : a x)",
      .rule = R"(\bar x = x > 0 ? \bar y : a \bar y)",
      .derivation =
          R"(Two straight lines, of slope 1 to the right of 0 and a to its left; at the kink x = 0 the left one is taken.)",
      .why_kept = "the rule needs the sign of x",
      .numpy = "np.where({x} > 0, {x}, {slope} * {x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("leaky_relu", x, [a = slope](auto v) { return v > 0 ? v : static_cast<decltype(v)>(a) * v; });
  }
  Grads vjp(const Vjp& v) const { return {where(v.x[0] > 0.0, v.g, slope * v.g)}; }

  static void samples(Samples& s) {
    s.add(leaky_relu, s.randn({2, 5})).for_benchmark();
    s.add(leaky_relu, s.randn({}), 0.3);
    s.add(leaky_relu, s.randn({0, 3}));
    s.add(leaky_relu, s.tensor({0.0, -2.0}), 0.25).at_kink();
    s.error("dtype i64 is not floating; cast", leaky_relu, s.indices({3}, 5));
  }
};

const Register<LeakyRelu> registered{leaky_relu, {"x", {"slope", 0.01}}};

}  // namespace

Tensor leaky_relu(const Tensor& x, double slope) { return apply(LeakyRelu{slope}, x); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Elu {
  double alpha;
  static constexpr OpInfo info{
      .name = "elu",
      .math = R"(y = x > 0 ? x : \alpha (e^{x} - 1))",
      .rule = R"(\bar x = x > 0 ? \bar y : \alpha \bar y \odot e^{x})",
      .derivation =
          R"(The slope is 1 to the right of 0 and \alpha e^{x} to its left; at 0 itself it is the left one, \alpha.)",
      .why_kept = "the rule needs x",
      .numpy = "np.where({x} > 0, {x}, {alpha} * np.expm1(np.minimum({x}, 0)))"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("elu", x,
                        [a = alpha](auto v) { return v > 0 ? v : static_cast<decltype(v)>(a) * math::expm1(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, where(v.x[0] > 0.0, 1.0, alpha * exp(v.x[0])))}; }

  static void samples(Samples& s) {
    s.add(elu, s.randn({2, 5})).for_benchmark();
    s.add(elu, s.randn({}), 0.3);
    s.add(elu, s.randn({0, 3}));
    s.add(elu, s.tensor({0.0, -2.0}), 0.5).at_kink();
    s.add(elu, s.tensor({-1000.0, 1000.0}));
    s.error("dtype i64 is not floating; cast", elu, s.indices({3}, 5));
  }
};

const Register<Elu> registered{elu, {"x", {"alpha", 1.0}}};

}  // namespace

Tensor elu(const Tensor& x, double alpha) { return apply(Elu{alpha}, x); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Abs {
  static constexpr OpInfo info{
      .name = "abs",
      .math = R"(y = |x|)",
      .rule = R"(\bar x = \bar y \odot \operatorname{sign}(x))",
      .derivation =
          R"(The slope is 1 for positive x and -1 for negative x; at the kink x = 0 it is chosen to be 0, the sign of 0.)",
      .why_kept = "the rule needs the sign of x",
      .numpy = "np.abs({x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_numbers("abs", x, [](auto v) { return std::abs(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, sign(v.x[0]))}; }

  static void samples(Samples& s) {
    s.add(abs, s.randn({2, 5})).for_benchmark();
    s.add(abs, s.randn({}));
    s.add(abs, s.randn({0, 3}));
    s.add(abs, s.tensor({0.0, -2.0})).at_kink();
    s.add(abs, s.indices({4}, 5));
    s.error("dtype b8 holds truth values", abs, s.bools({3}));
  }
};

const Register<Abs> registered{abs, {"x"}};

}  // namespace

Tensor abs(const Tensor& x) { return apply(Abs{}, x); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Sqrt {
  static constexpr OpInfo info{
      .name = "sqrt",
      .math = R"(y = \sqrt{x})",
      .rule = R"(\bar x = \bar y / (2 y))",
      .derivation =
          R"(From y^{2} = x follows 2 y \partial y / \partial x = 1. At 0 the slope is infinite, so the length written as
sqrt(sum(x * x)) has no gradient there, where norm(x) gives 0; a cotangent of exactly 0 gives 0.)",
      .why_kept = "the rule needs y: one division, no second root",
      .numpy = "np.sqrt({x})"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("sqrt", x, [](auto v) { return std::sqrt(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, 0.5 / v.y)}; }

  static void samples(Samples& s) {
    s.add(sqrt, s.uniform({2, 5}, 0.2, 3)).for_benchmark();
    s.add(sqrt, s.uniform({}, 0.2, 3));
    s.add(sqrt, s.randn({0, 3}));
    s.add(sqrt, s.tensor({-1.0, 4.0})).first_order();
    s.error("dtype i64 is not floating; cast", sqrt, s.indices({3}, 5));
  }
};

const Register<Sqrt> registered{sqrt, {"x"}};

}  // namespace

Tensor sqrt(const Tensor& x) { return apply(Sqrt{}, x); }

}  // namespace gradus

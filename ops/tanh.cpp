#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Tanh {
  static constexpr OpInfo info{
      .name = "tanh",
      .math = R"(y = \tanh x)",
      .rule = R"(\bar x = \bar y \odot (1 - y^{2}))",
      .derivation =
          R"(y = \sinh x / \cosh x; by the quotient rule \partial y / \partial x = (\cosh^{2} x - \sinh^{2} x) / \cosh^{2} x
= 1 - y^{2}.)",
      .why_kept = "the rule needs y, not x",
      .numpy = "np.tanh({x})"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("tanh", x, [](auto v) { return math::tanh(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, 1.0 - v.y * v.y)}; }
  Grads fused_vjp(const Vjp& v) const {
    return {local_product_map(v.g, v.y, [](auto y) { return 1 - y * y; })};
  }

  static void samples(Samples& s) {
    s.add(tanh, s.randn({2, 5})).for_benchmark();
    s.add(tanh, s.randn({}));
    s.add(tanh, s.randn({0, 3}));
    s.add(tanh, s.tensor({-30.0, 30.0, 0.0}));
    s.error("dtype i64 is not floating; cast", tanh, s.indices({3}, 5));
  }
};

const Register<Tanh> registered{tanh, {"x"}};

}  // namespace

Tensor tanh(const Tensor& x) { return apply(Tanh{}, x); }

}  // namespace gradus

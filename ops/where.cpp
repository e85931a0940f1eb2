#include "core/elementwise.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Where {
  static constexpr OpInfo info{
      .name = "where",
      .math = R"(y = c ? a : b)",
      .rule = "\\text{none}\n\\bar a = c ? \\bar y : 0\n\\bar b = c ? 0 : \\bar y",
      .derivation =
          R"(Each element comes from one branch, which alone gets its cotangent. Selected, never multiplied: the other
branch gets an exact 0, whatever it holds.)",
      .why_kept = "the condition, and neither branch",
      .numpy = "np.where({condition}, {a}, {b})"};
  static constexpr bool broadcasts = true;

  Forward forward(const Tensor& condition, const Tensor& a, const Tensor& b) const {
    return dispatch(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return Forward(map_broadcast<T>(
                         "where", [](bool c, T u, T v) { return c ? u : v; }, condition, a, b),
                     condition.detach());
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor& c = v.residuals[0];
    return {Tensor{}, v.want(1, [&] { return where(c, v.g, 0.0); }), v.want(2, [&] { return where(c, 0.0, v.g); })};
  }

  static void samples(Samples& s) {
    s.add(where, s.bools({2, 3}), s.randn({2, 3}), s.randn({2, 3})).for_benchmark();
    s.add(where, s.bools({3, 1}), s.randn({4}), s.randn({2, 1, 1}));
    s.add(where, s.bools({2, 3}), s.randn({2, 3}), 0.0);
    s.add(where, s.bools({0, 3}), s.randn({3}), s.randn({1}));
    s.error("condition has dtype f64", where, s.randn({3}), s.randn({3}), s.randn({3}));
    s.error("do not broadcast", where, s.bools({2}), s.randn({3}), s.randn({3}));
  }
};

const Register<Where> registered{where, {"condition", "a", "b"}};

}  // namespace

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  if (condition.dtype() != DType::b8)
    fail("where: the condition has dtype {}, not b8; compare first, as in x > 0", condition.dtype());
  const auto [x, y] = operands("where", a, b);
  return apply(Where{}, condition, x, y);
}

}  // namespace gradus

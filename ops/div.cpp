#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Div {
  static constexpr OpInfo info{
      .name = "div",
      .math = R"(y = a / b)",
      .rule = "\\bar a = \\bar y / b\n\\bar b = -\\bar y \\odot a / b^{2}",
      .derivation =
          R"(y is linear in a with factor 1 / b. From y b = a with a held fixed, b \partial y / \partial b + y = 0, so
\partial y / \partial b = -y / b = -a / b^{2}.)",
      .why_kept = "the rules need a and b",
      .numpy = "{a} / {b}"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_floating("div", a, b, [](auto u, auto v) { return u / v; });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor &a = v.x[0], &b = v.x[1];
    return {v.want(0, [&] { return local_product(v.g, 1.0 / b); }),
            v.want(1, [&] { return local_product(v.g, -(a / b) / b); })};
  }
  // da = g / b, db = -g a / b^2
  Grads fused_vjp(const Vjp& v) const {
    const Tensor &a = v.x[0], &b = v.x[1];
    return {v.want(0, [&] { return local_product_map(v.g, b, [](auto d) { return 1 / d; }); }),
            v.want(1, [&] { return local_product_map(v.g, a, b, [](auto n, auto d) { return -(n / d) / d; }); })};
  }

  static void samples(Samples& s) {
    s.add(div, s.randn({2, 3}), s.uniform({2, 3}, 0.5, 2));
    s.add(div, s.randn({4, 1, 3}), s.uniform({2, 1}, -2, -0.5)).for_benchmark();
    s.add(div, 1.5, s.uniform({2, 3}, 0.5, 2));
    s.add(div, s.randn({2, 3}), 3);
    s.add(div, s.randn({0, 3}), s.randn({3}));
    s.add(div, s.tensor({1.0, 0.0, 2.0}), s.tensor({0.0, 0.0, 4.0})).first_order();
    s.error("shapes [2, 3] and [4] do not broadcast", div, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", div, s.randn({3}), s.indices({3}, 4));
    s.error("dtype i64 is not floating; cast", div, s.indices({3}, 4), 2);
  }
};

const Register<Div> registered{div, {"a", "b"}};

}  // namespace

Tensor div(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("div", a, b);
  return apply(Div{}, u, v);
}
Tensor operator/(const Operand& a, const Operand& b) { return div(a, b); }
Tensor& Tensor::operator/=(const Operand& b) { return update_in_place("/=", *this, b, div); }

}  // namespace gradus

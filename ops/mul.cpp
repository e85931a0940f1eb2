#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Mul {
  static constexpr OpInfo info{.name = "mul",
                               .math = R"(y = a \odot b)",
                               .rule = "\\bar a = \\bar y \\odot b\n\\bar b = \\bar y \\odot a",
                               .derivation = R"(Elementwise y_i = a_i b_i, so \partial y_i / \partial a_i = b_i and the
other way round.)",
                               .why_kept = "each rule needs the other factor",
                               .numpy = "{a} * {b}"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_numbers("mul", a, b, [](auto u, auto v) { return u * v; });
  }
  Grads vjp(const Vjp& v) const {
    return {v.want(0, [&] { return local_product(v.g, v.x[1]); }),
            v.want(1, [&] { return local_product(v.g, v.x[0]); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    const auto factor = [](auto other) { return other; };
    return {v.want(0, [&] { return local_product_map(v.g, v.x[1], factor); }),
            v.want(1, [&] { return local_product_map(v.g, v.x[0], factor); })};
  }

  static void samples(Samples& s) {
    s.add(mul, s.randn({2, 3}), s.randn({2, 3}));
    s.add(mul, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(mul, -2.0, s.randn({2, 3}));
    s.add(mul, s.randn({2, 0}), s.randn({1}));
    s.error("shapes [2, 3] and [4] do not broadcast", mul, s.randn({2, 3}), s.randn({4}));
  }
};

const Register<Mul> registered{mul, {"a", "b"}};

}  // namespace

Tensor mul(const Operand& a, const Operand& b) {
  const auto [x, y] = operands("mul", a, b);
  return apply(Mul{}, x, y);
}
Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b); }
Tensor& Tensor::operator*=(const Operand& b) { return update_in_place("*=", *this, b, mul); }

}  // namespace gradus

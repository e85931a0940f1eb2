#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Sub {
  static constexpr OpInfo info{
      .name = "sub",
      .math = R"(y = a - b)",
      .rule = "\\bar a = \\bar y\n\\bar b = -\\bar y",
      .derivation =
          R"(The partial derivatives are 1 and -1. An input that was broadcast fed several elements of y: the engine sums their
cotangents.)",
      .why_kept = "the derivatives are constant",
      .numpy = "{a} - {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_numbers("sub", a, b, [](auto u, auto v) { return u - v; });
  }
  Grads vjp(const Vjp& v) const {
    return {Tensor(v.g), v.want(1, [&] { return -v.g; })};
  }

  static void samples(Samples& s) {
    s.add(sub, s.randn({2, 3}), s.randn({2, 3}));
    s.add(sub, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(sub, 1.5, s.randn({2, 3}));
    s.add(sub, s.randn({0, 3}), s.randn({3}));
    s.add(sub, s.indices({4}, 5), 2);
    s.error("shapes [2, 3] and [4] do not broadcast", sub, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", sub, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Sub> registered{sub, {"a", "b"}};

}  // namespace

Tensor sub(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("sub", a, b);
  return apply(Sub{}, u, v);
}
Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b); }
Tensor& Tensor::operator-=(const Operand& b) { return update_in_place("-=", *this, b, sub); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Add {
  static constexpr OpInfo info{.name = "add",
                               .math = R"(y = a + b)",
                               .rule = "\\bar a = \\bar y\n\\bar b = \\bar y",
                               .derivation = R"(Both partial derivatives are 1. An input that was broadcast fed several
elements of y: the engine sums their cotangents.)",
                               .why_kept = "the derivatives are constant",
                               .numpy = "{a} + {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_numbers("add", a, b, [](auto u, auto v) { return u + v; });
  }
  Grads vjp(const Vjp& v) const { return {Tensor(v.g), Tensor(v.g)}; }

  static void samples(Samples& s) {
    s.add(add, s.randn({2, 3}), s.randn({2, 3}));
    s.add(add, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(add, s.randn({2, 3}), 1.5);
    s.add(add, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", add, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", add, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Add> registered{add, {"a", "b"}};

}  // namespace

Tensor add(const Operand& a, const Operand& b) {
  const auto [x, y] = operands("add", a, b);
  return apply(Add{}, x, y);
}
Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
Tensor& Tensor::operator+=(const Operand& b) { return update_in_place("+=", *this, b, add); }

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/compare.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Eq {
  static constexpr OpInfo info{
      .name = "eq",
      .math = R"(y = (a = b))",
      .rule = "\\text{none}\n\\text{none}",
      .derivation =
          R"(A truth value (b8), constant but for jumps: it has no gradient. Any comparison with NaN is false.)",
      .numpy = "{a} == {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return compare("eq", a, b, [](auto u, auto v) { return u == v; });
  }

  static void samples(Samples& s) {
    s.add(eq, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0}));
    s.add(eq, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(eq, s.randn({2, 3}), 0.25);
    s.add(eq, 2, s.indices({4}, 5));
    s.add(eq, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", eq, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", eq, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Eq> registered{eq, {"a", "b"}};

}  // namespace

Tensor eq(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("eq", a, b);
  return apply(Eq{}, u, v);
}
Tensor operator==(const Operand& a, const Operand& b) { return eq(a, b); }

}  // namespace gradus

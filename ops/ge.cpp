#include "core/registry.hpp"
#include "ops/compare.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Ge {
  static constexpr OpInfo info{
      .name = "ge",
      .math = R"(y = (a \ge b))",
      .rule = "\\text{none}\n\\text{none}",
      .derivation =
          R"(A truth value (b8), constant but for jumps: it has no gradient. Any comparison with NaN is false.)",
      .numpy = "{a} >= {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return compare("ge", a, b, [](auto u, auto v) { return u >= v; });
  }

  static void samples(Samples& s) {
    s.add(ge, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0}));
    s.add(ge, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(ge, s.randn({2, 3}), 0.25);
    s.add(ge, 2, s.indices({4}, 5));
    s.add(ge, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", ge, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", ge, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Ge> registered{ge, {"a", "b"}};

}  // namespace

Tensor ge(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("ge", a, b);
  return apply(Ge{}, u, v);
}
Tensor operator>=(const Operand& a, const Operand& b) { return ge(a, b); }

}  // namespace gradus

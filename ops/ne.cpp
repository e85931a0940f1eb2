#include "core/registry.hpp"
#include "ops/compare.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Ne {
  static constexpr OpInfo info{
      .name = "ne",
      .math = R"(y = (a \ne b))",
      .rule = "\\text{none}\n\\text{none}",
      .derivation =
          R"(A truth value (b8), constant but for jumps: it has no gradient. NaN differs from everything, itself included.)",
      .numpy = "{a} != {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return compare("ne", a, b, [](auto u, auto v) { return u != v; });
  }

  static void samples(Samples& s) {
    s.add(ne, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0}));
    s.add(ne, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(ne, s.randn({2, 3}), 0.25);
    s.add(ne, 2, s.indices({4}, 5));
    s.add(ne, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", ne, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", ne, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Ne> registered{ne, {"a", "b"}};

}  // namespace

Tensor ne(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("ne", a, b);
  return apply(Ne{}, u, v);
}
Tensor operator!=(const Operand& a, const Operand& b) { return ne(a, b); }

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/compare.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Lt {
  static constexpr OpInfo info{
      .name = "lt",
      .math = R"(y = (a < b))",
      .rule = "\\text{none}\n\\text{none}",
      .derivation =
          R"(A truth value (b8), constant but for jumps: it has no gradient. Any comparison with NaN is false.)",
      .numpy = "{a} < {b}"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return compare("lt", a, b, [](auto u, auto v) { return u < v; });
  }

  static void samples(Samples& s) {
    s.add(lt, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0}));
    s.add(lt, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(lt, s.randn({2, 3}), 0.25);
    s.add(lt, 2, s.indices({4}, 5));
    s.add(lt, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", lt, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", lt, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Lt> registered{lt, {"a", "b"}};

}  // namespace

Tensor lt(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("lt", a, b);
  return apply(Lt{}, u, v);
}
Tensor operator<(const Operand& a, const Operand& b) { return lt(a, b); }

}  // namespace gradus

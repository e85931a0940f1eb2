#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ties.hpp"

namespace gradus {
namespace {

struct Maximum {
  static constexpr OpInfo info{
      .name = "maximum",
      .math = R"(y = \max(a, b))",
      .rule =
          "\\bar a = a > b ? \\bar y : (a = b ? \\bar y / 2 : 0)\n\\bar b = b > a ? \\bar y : (a = b ? \\bar y / 2 : "
          "0)",
      .derivation =
          R"(y is the larger of the two, which alone gets its cotangent. At a tie both get half of it, so that their sum is right
when both come from one tensor. NaN in either gives NaN.)",
      .why_kept = "the rules compare a and b",
      .numpy = "np.maximum({a}, {b})"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_numbers("maximum", a, b, [](auto u, auto v) { return u > v || u != u ? u : v; });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor &a = v.x[0], &b = v.x[1];
    return {v.want(0, [&] { return share_of_larger(v.g, a, b); }),
            v.want(1, [&] { return share_of_larger(v.g, b, a); })};
  }

  static void samples(Samples& s) {
    s.add(maximum, s.randn({2, 3}), s.randn({2, 3}));
    s.add(maximum, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(maximum, s.randn({2, 3}), 0.25);
    s.add(maximum, s.randn({0, 3}), s.randn({3}));
    s.add(maximum, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0})).at_kink();
    s.add(maximum, s.indices({4}, 5), 2);
    s.error("shapes [2, 3] and [4] do not broadcast", maximum, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", maximum, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Maximum> registered{maximum, {"a", "b"}};

}  // namespace

Tensor maximum(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("maximum", a, b);
  return apply(Maximum{}, u, v);
}

}  // namespace gradus

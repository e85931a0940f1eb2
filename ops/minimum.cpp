#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ties.hpp"

namespace gradus {
namespace {

struct Minimum {
  static constexpr OpInfo info{
      .name = "minimum",
      .math = R"(y = \min(a, b))",
      .rule =
          "\\bar a = a < b ? \\bar y : (a = b ? \\bar y / 2 : 0)\n\\bar b = b < a ? \\bar y : (a = b ? \\bar y / 2 : "
          "0)",
      .derivation =
          R"(y is the smaller of the two, which alone gets its cotangent. At a tie both get half of it, so that their sum is right
when both come from one tensor. NaN in either gives NaN.)",
      .why_kept = "the rules compare a and b",
      .numpy = "np.minimum({a}, {b})"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return map_numbers("minimum", a, b, [](auto u, auto v) { return u < v || u != u ? u : v; });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor &a = v.x[0], &b = v.x[1];
    return {v.want(0, [&] { return share_of_smaller(v.g, a, b); }),
            v.want(1, [&] { return share_of_smaller(v.g, b, a); })};
  }

  static void samples(Samples& s) {
    s.add(minimum, s.randn({2, 3}), s.randn({2, 3}));
    s.add(minimum, s.randn({4, 1, 3}), s.randn({2, 1})).for_benchmark();
    s.add(minimum, s.randn({2, 3}), 0.25);
    s.add(minimum, s.randn({0, 3}), s.randn({3}));
    s.add(minimum, s.tensor({1.0, 2.0, 3.0}), s.tensor({1.0, 3.0, 2.0})).at_kink();
    s.add(minimum, s.indices({4}, 5), 2);
    s.error("shapes [2, 3] and [4] do not broadcast", minimum, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", minimum, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Minimum> registered{minimum, {"a", "b"}};

}  // namespace

Tensor minimum(const Operand& a, const Operand& b) {
  const auto [u, v] = operands("minimum", a, b);
  return apply(Minimum{}, u, v);
}

}  // namespace gradus

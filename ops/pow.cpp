#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

bool is_number(const Tensor& p, double value) { return p.numel() == 1 && p.item() == value; }

// How x^p changes with p: x^p ln x. At x = 0 the product is 0 times -infinity: 0 for p >= 0 (0^p stays 0), -infinity
// for p < 0.
Tensor slope_in_exponent(const Tensor& x, const Tensor& p) {
  const Tensor lowest = scalar(-std::numeric_limits<double>::infinity(), p.dtype());
  return where(x == 0.0, where(p < 0.0, lowest, 0.0), pow(x, p) * log(x));
}

struct Pow {
  static constexpr OpInfo info{
      .name = "pow",
      .math = R"(y = x^{p})",
      .rule = "\\bar x = \\bar y \\odot p x^{p - 1}\n\\bar p = \\bar y \\odot x^{p} \\ln x",
      .derivation = R"(With p held fixed, the power rule. With x held fixed x^{p} = e^{p \ln x}, whose slope in p is
x^{p} \ln x. Where these products are 0 times infinity they are 0: x^{0} is constant, and so is 0^{p} for p \ge 0. A
negative x has no logarithm: \bar p is NaN there, \bar x is right.)",
      .why_kept = "the rules need x and p",
      .numpy = "{x} ** {y}"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& x, const Tensor& p) const {
    if (is_number(p, 2)) return map_floating("pow", x, p, [](auto v, auto) { return v * v; });
    if (is_number(p, 3)) return map_floating("pow", x, p, [](auto v, auto) { return v * v * v; });
    return map_floating("pow", x, p, [](auto v, auto e) { return std::pow(v, e); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor &x = v.x[0], &p = v.x[1];
    return {v.want(0, [&] { return local_product(v.g, local_product(p, pow(x, p - 1.0))); }),
            v.want(1, [&] { return local_product(v.g, slope_in_exponent(x, p)); })};
  }
  // dx = g p x^{p - 1}
  Grads fused_vjp(const Vjp& v) const {
    const Tensor &x = v.x[0], &p = v.x[1];
    return {v.want(0,
                   [&] {
                     if (is_number(p, 2)) return local_product_map(v.g, x, [](auto u) { return 2 * u; });
                     return local_product_map(v.g, x, p,
                                              [](auto u, auto e) { return local_product_of(e, std::pow(u, e - 1)); });
                   }),
            v.want(1, [&] { return local_product(v.g, slope_in_exponent(x, p)); })};
  }

  static void samples(Samples& s) {
    s.add(pow, s.uniform({2, 3}, 0.5, 2), s.randn({2, 3}));
    s.add(pow, s.uniform({4, 1, 3}, 0.5, 2), s.randn({2, 1}));
    s.add(pow, s.randn({2, 5}), 2).for_benchmark();
    s.add(pow, s.tensor({-2.0, 0.0, 1.5}), 3);
    s.add(pow, s.tensor({-2.0, 0.0, 1.5}), 2);
    s.add(pow, s.uniform({5}, 0.5, 2), -1.5);
    s.add(pow, s.randn({3}), 0);
    s.add(pow, 2, s.randn({3}));
    s.add(pow, s.tensor({0.0, 0.0, 0.0, 0.0, 2.0}), s.tensor({0.0, 1.0, 2.0, 0.5, 0.0})).at_kink();
    s.add(pow, s.randn({0, 3}), s.randn({3}));
    s.error("shapes [2, 3] and [4] do not broadcast", pow, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", pow, s.randn({3}), s.indices({3}, 4));
    s.error("dtype i64 is not floating; cast", pow, s.indices({3}, 4), 2);
  }
};

const Register<Pow> registered{pow, {"x", "y"}};

}  // namespace

Tensor pow(const Operand& x, const Operand& y) {
  const auto [u, p] = operands("pow", x, y);
  return apply(Pow{}, u, p);
}

}  // namespace gradus

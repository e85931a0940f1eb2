#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Outer {
  static constexpr OpInfo info{.name = "outer",
                               .math = R"(Y_{i j} = a_{i} b_{j})",
                               .rule = "\\bar a = \\bar Y b\n\\bar b = \\bar Y^{T} a",
                               .derivation =
                                   R"(Y_{i j} depends on a_i with factor b_j, so \bar a_{i} = \sum_j \bar Y_{i j} b_{j};
and on b_j with factor a_i.)",
                               .why_kept = "each rule needs the other factor",
                               .numpy = "np.outer({a}, {b})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    const Tensor column(a.storage(), {{a.numel(), 1}, {a.strides()[0], 0}, a.layout().offset}, a.dtype());
    return map_numbers("outer", column, b, [](auto u, auto v) { return u * v; });
  }
  Grads vjp(const Vjp& v) const {
    return {v.want(0, [&] { return matmul(v.g, v.x[1]); }), v.want(1, [&] { return matmul(transpose(v.g), v.x[0]); })};
  }

  static void samples(Samples& s) {
    s.add(outer, s.randn({3}), s.randn({4})).for_benchmark();
    s.add(outer, s.randn({1}), s.randn({5}));
    s.add(outer, s.randn({0}), s.randn({3}));
    s.add(outer, s.indices({2}, 9), s.indices({3}, 9));
    s.error("shapes [2, 3] and [4]; each needs exactly one axis", outer, s.randn({2, 3}), s.randn({4}));
    s.error("dtypes f64 and i64 do not mix", outer, s.randn({3}), s.indices({3}, 4));
  }
};

const Register<Outer> registered{outer, {"a", "b"}};

}  // namespace

Tensor outer(const Tensor& a, const Tensor& b) {
  operands("outer", a, b);
  if (a.rank() != 1 || b.rank() != 1)
    fail("outer: shapes {} and {}; each needs exactly one axis, flatten with reshape", a.shape(), b.shape());
  return apply(Outer{}, a, b);
}

}  // namespace gradus

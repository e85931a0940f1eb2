#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/sorting.hpp"

namespace gradus {
namespace {

struct Sort {
  int axis;
  bool descending;
  static constexpr OpInfo info{
      .name = "sort",
      .math = R"(y_i = x_{\pi_i})",
      .rule = R"(\bar x_{\pi_i} = \bar y_i)",
      .derivation = R"(Near x the order \pi is constant and sorting only moves elements, so the cotangents move
back. Equal elements stay in their order.)",
      .why_kept = "the rule needs the order, the positions of the sorted elements",
      .numpy = "(np.flip(np.sort({x}, axis={axis}), {axis}) if {descending} else np.sort({x}, axis={axis}))"};

  Forward forward(const Tensor& x) const {
    Ordered o = order_along("sort", x, axis, x.shape()[axis], descending);
    return {std::move(o.values), std::move(o.positions)};
  }
  Grads vjp(const Vjp& v) const { return {scatter_add(zeros_like(v.x[0]), v.residuals[0], v.g, axis)}; }

  static void samples(Samples& s) {
    // Of these sizes, since tests make smaller ones larger, until differences take elements past each other.
    s.add(sort, s.randn({20, 20})).for_benchmark();
    s.add(sort, s.randn({8, 8, 6}), 1, true);
    s.add(sort, s.randn({20, 20}), 0);
    s.add(sort, s.full({2, 3}, 1)).at_kink();
    s.add(sort, s.randn({2, 0}));
    s.add(sort, s.indices({2, 6}, 4), -1, true);
    s.error("axis 2 is out of range for shape [3, 3]", sort, s.randn({3, 3}), 2);
    s.error("cast", sort, s.bools({3}));
  }
};

const Register<Sort> registered{sort, {"x", {"axis", -1}, {"descending", false}}};

}  // namespace

Tensor sort(const Tensor& x, int axis, bool descending) {
  return apply(Sort{checked_axis("sort", x.shape(), axis), descending}, x);
}

}  // namespace gradus

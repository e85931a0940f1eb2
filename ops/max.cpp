#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct Max {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "max",
      .math = R"(y = \max_{i} x_i)",
      .rule = R"(\bar x_i = (x_i = y) ? \bar y / \sum_j [x_j = y] : 0)",
      .derivation =
          R"(A small change of the largest element changes y by as much, one of the others by nothing. Elements that tie
share the cotangent evenly: of all subgradients this one does not depend on their order.)",
      .why_kept = "the rule compares x with y",
      .numpy = "np.max({x}, axis={axis}, keepdims={keepdim})"};
  static constexpr Keep keeps = Keep::both;

  Tensor forward(const Tensor& x) const { return extreme_over<true>("max", x, axis.mask("max", x.shape()), keepdim); }
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const unsigned mask = axis.mask("max", shape);
    return {share_among_ties(v.x[0], with_axes(v.y, shape, mask), with_axes(v.g, shape, mask), axis)};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {rule_by_rows(
        v, axis.mask("max", v.x[0].shape()), 0.3,
        [](auto g, auto y, const auto* x, std::int64_t n, auto* dx) { share_among_ties_row(g, y, x, n, dx); })};
  }

  static void samples(Samples& s) {
    s.add(max, s.randn({2, 3, 4})).for_benchmark();
    s.add(max, s.randn({2, 3, 4}), 1);
    s.add(max, s.randn({2, 3, 4}), Axes{0, -1}, true);
    s.add(max, s.randn({3, 37}), -1);
    s.add(max, s.full({4, 3}, 1), 0).at_kink();
    s.add(max, s.tensor({1, NAN, 3}));
    s.add(max, s.randn({}));
    s.add(max, s.randn({0, 3}), 1);
    s.add(max, s.indices({3, 4}, 9), 0);
    s.error("max: nothing to choose from in shape [0, 3]", max, s.randn({0, 3}), 0);
    s.error("axis 2 is out of range for shape [3, 3]", max, s.randn({3, 3}), 2);
    s.error("cast", max, s.bools({3}));
  }
};

const Register<Max> registered{max, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor max(const Tensor& x, const Axes& axis, bool keepdim) { return apply(Max{axis, keepdim}, x); }
Tensor Tensor::max() const { return gradus::max(*this); }
Tensor Tensor::max(const Axes& axis, bool keepdim) const { return gradus::max(*this, axis, keepdim); }

}  // namespace gradus

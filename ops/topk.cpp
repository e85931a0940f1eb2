#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/sorting.hpp"

namespace gradus {
namespace {

struct TopK {
  std::int64_t k;
  int axis;
  static constexpr OpInfo info{
      .name = "topk",
      .math = R"(y_i = x_{\pi_i})",
      .rule = R"(\bar x_{\pi_i} = \bar y_i)",
      .derivation = R"(The k largest elements in descending order. Near x their positions \pi are constant, so the
cotangents move back to them; the other elements get 0. Of equal elements the first are taken.)",
      .why_kept = "the rule needs the positions of the chosen elements",
      .numpy = "np.flip(np.sort({x}, axis={axis}), {axis}).take(range({k}), {axis})"};

  Forward forward(const Tensor& x) const {
    Ordered o = order_along("topk", x, axis, k, true);
    return {std::move(o.values), std::move(o.positions)};
  }
  Grads vjp(const Vjp& v) const { return {scatter_add(zeros_like(v.x[0]), v.residuals[0], v.g, axis)}; }

  static void samples(Samples& s) {
    s.add(topk, s.randn({2, 5}), 3).for_benchmark();
    s.add(topk, s.randn({3, 4, 2}), 2, 1);
    s.add(topk, s.randn({3, 4}), 3, 0);
    s.add(topk, s.randn({2, 3}), 0);
    s.add(topk, s.indices({2, 6}, 4), 2);
    s.error("k is 4, but axis -1 of shape [2, 3] has 3 elements", topk, s.randn({2, 3}), 4);
    s.error("axis 2 is out of range for shape [3, 3]", topk, s.randn({3, 3}), 1, 2);
    s.error("cast", topk, s.bools({3}), 1);
  }
};

const Register<TopK> registered{topk, {"x", "k", {"axis", -1}}};

}  // namespace

Tensor topk(const Tensor& x, std::int64_t k, int axis) {
  return apply(TopK{k, checked_topk("topk", x.shape(), k, axis)}, x);
}

}  // namespace gradus

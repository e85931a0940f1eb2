#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/sorting.hpp"

namespace gradus {
namespace {

struct ArgTopK {
  std::int64_t k;
  int axis;
  static constexpr OpInfo info{.name = "argtopk",
                               .math = R"(y = \pi)",
                               .rule = R"(\text{none})",
                               .derivation = R"(Positions are integers: they have no derivative.)",
                               .numpy = "np.argsort(-{x}, axis={axis}, kind='stable').take(range({k}), {axis})"};

  Tensor forward(const Tensor& x) const { return order_along("argtopk", x, axis, k, true).positions; }

  static void samples(Samples& s) {
    s.add(argtopk, s.randn({2, 5}), 3).for_benchmark();
    s.add(argtopk, s.randn({3, 4, 2}), 2, 1);
    s.add(argtopk, s.full({2, 40}, 1), 3);
    s.add(argtopk, s.randn({2, 3}), 0);
    s.add(argtopk, s.indices({2, 6}, 4), 2);
    s.error("k is 4, but axis -1 of shape [2, 3] has 3 elements", argtopk, s.randn({2, 3}), 4);
    s.error("axis 2 is out of range for shape [3, 3]", argtopk, s.randn({3, 3}), 1, 2);
    s.error("cast", argtopk, s.bools({3}), 1);
  }
};

const Register<ArgTopK> registered{argtopk, {"x", "k", {"axis", -1}}};

}  // namespace

Tensor argtopk(const Tensor& x, std::int64_t k, int axis) {
  return apply(ArgTopK{k, checked_topk("argtopk", x.shape(), k, axis)}, x);
}

}  // namespace gradus

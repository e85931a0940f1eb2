#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/sorting.hpp"

namespace gradus {
namespace {

struct ArgSort {
  int axis;
  bool descending;
  static constexpr OpInfo info{.name = "argsort",
                               .math = R"(y = \pi)",
                               .rule = R"(\text{none})",
                               .derivation = R"(Positions are integers: they have no derivative.)",
                               .numpy = "np.argsort(-{x} if {descending} else {x}, axis={axis}, kind='stable')"};

  Tensor forward(const Tensor& x) const {
    return order_along("argsort", x, axis, x.shape()[axis], descending).positions;
  }

  static void samples(Samples& s) {
    s.add(argsort, s.randn({2, 5})).for_benchmark();
    s.add(argsort, s.randn({3, 4, 2}), 1, true);
    s.add(argsort, s.full({2, 40}, 1), -1, true);
    s.add(argsort, s.randn({2, 0}));
    s.add(argsort, s.indices({2, 6}, 4));
    s.error("axis 2 is out of range for shape [3, 3]", argsort, s.randn({3, 3}), 2);
    s.error("cast", argsort, s.bools({3}));
  }
};

const Register<ArgSort> registered{argsort, {"x", {"axis", -1}, {"descending", false}}};

}  // namespace

Tensor argsort(const Tensor& x, int axis, bool descending) {
  return apply(ArgSort{checked_axis("argsort", x.shape(), axis), descending}, x);
}

}  // namespace gradus

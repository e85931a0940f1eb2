#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct ArgMax {
  std::optional<int> axis;
  bool keepdim;
  static constexpr OpInfo info{.name = "argmax",
                               .math = R"(y = \operatorname{argmax}_{i} x_i)",
                               .rule = R"(\text{none})",
                               .derivation = R"(A position is an integer: it has no derivative.)",
                               .numpy = "np.argmax({x}, axis={axis}, keepdims={keepdim})"};

  Tensor forward(const Tensor& x) const { return position_of_extreme<true>("argmax", x, axis, keepdim); }

  static void samples(Samples& s) {
    s.add(argmax, s.randn({2, 3, 4})).for_benchmark();
    s.add(argmax, s.randn({2, 3, 4}), 1);
    s.add(argmax, s.randn({2, 3, 4}), 0, true);
    s.add(argmax, s.full({2, 5}, 1), 1);
    s.add(argmax, s.tensor({1, NAN, 3}));
    s.add(argmax, s.randn({}));
    s.add(argmax, s.randn({0, 3}), 1);
    s.add(argmax, s.indices({3, 4}, 9), 0);
    s.error("argmax: nothing to choose from in shape [0, 3]", argmax, s.randn({0, 3}));
    s.error("axis 2 is out of range for shape [3, 3]", argmax, s.randn({3, 3}), 2);
    s.error("cast", argmax, s.bools({3}));
  }
};

const Register<ArgMax> registered{argmax, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor argmax(const Tensor& x, std::optional<int> axis, bool keepdim) {
  if (axis) axis = checked_axis("argmax", x.shape(), *axis);
  return apply(ArgMax{axis, keepdim}, x);
}

}  // namespace gradus

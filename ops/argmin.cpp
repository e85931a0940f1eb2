#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct ArgMin {
  std::optional<int> axis;
  bool keepdim;
  static constexpr OpInfo info{.name = "argmin",
                               .math = R"(y = \operatorname{argmin}_{i} x_i)",
                               .rule = R"(\text{none})",
                               .derivation = R"(A position is an integer: it has no derivative.)",
                               .numpy = "np.argmin({x}, axis={axis}, keepdims={keepdim})"};

  Tensor forward(const Tensor& x) const { return position_of_extreme<false>("argmin", x, axis, keepdim); }

  static void samples(Samples& s) {
    s.add(argmin, s.randn({2, 3, 4})).for_benchmark();
    s.add(argmin, s.randn({2, 3, 4}), 1);
    s.add(argmin, s.randn({2, 3, 4}), 0, true);
    s.add(argmin, s.full({2, 5}, 1), 1);
    s.add(argmin, s.tensor({1, NAN, 3}));
    s.add(argmin, s.randn({}));
    s.add(argmin, s.randn({0, 3}), 1);
    s.add(argmin, s.indices({3, 4}, 9), 0);
    s.error("argmin: nothing to choose from in shape [0, 3]", argmin, s.randn({0, 3}));
    s.error("axis 2 is out of range for shape [3, 3]", argmin, s.randn({3, 3}), 2);
    s.error("cast", argmin, s.bools({3}));
  }
};

const Register<ArgMin> registered{argmin, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor argmin(const Tensor& x, std::optional<int> axis, bool keepdim) {
  if (axis) axis = checked_axis("argmin", x.shape(), *axis);
  return apply(ArgMin{axis, keepdim}, x);
}

}  // namespace gradus

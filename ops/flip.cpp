#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

struct Flip {
  Axes axis;
  static constexpr OpInfo info{
      .name = "flip",
      .math = R"(y_{i} = x_{n - 1 - i})",
      .rule = R"(\bar x = \operatorname{flip}(\bar y))",
      .derivation = R"(The same elements in reverse order; reversing the cotangents again goes back.)",
      .why_kept = "",
      .numpy = "np.flip({x}, axis={axis})"};

  // A copy, since strides of tensors are never negative; those of `reversed` live in this kernel alone.
  Tensor forward(const Tensor& x) const {
    const unsigned mask = axis.mask("flip", x.shape());
    Layout reversed = x.layout();
    Tensor y(x.shape(), x.dtype());
    if (y.numel() == 0) return y;
    for (int i = 0; i < x.rank(); ++i) {
      if (!((mask >> i) & 1U)) continue;
      reversed.offset += (reversed.shape[i] - 1) * reversed.strides[i];
      reversed.strides[i] = -reversed.strides[i];
    }
    copy_into(y, part_of(x, reversed));
    return y;
  }
  Grads vjp(const Vjp& v) const { return {flip(v.g, axis)}; }

  static void samples(Samples& s) {
    s.add(flip, s.randn({4, 3}), 0).for_benchmark();
    s.add(flip, s.randn({2, 3, 4}), Axes{0, -1});
    s.add(flip, s.randn({2, 3}), every_axis);
    s.add(flip, s.randn({0, 3}), 1);
    s.add(flip, s.randn({}), every_axis);
    s.add(flip, s.indices({5}, 9), -1);
    s.error("axis 2 is out of range for shape [3, 3]", flip, s.randn({3, 3}), 2);
    s.error("axis 1 is named twice", flip, s.randn({3, 3}), Axes{1, -1});
  }
};

const Register<Flip> registered{flip, {"x", "axis"}};

}  // namespace

Tensor flip(const Tensor& x, const Axes& axis) { return apply(Flip{axis}, x); }

}  // namespace gradus

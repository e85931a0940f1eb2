#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Permute {
  Shape axes;
  static constexpr OpInfo info{
      .name = "permute",
      .math = R"(y_{i_{p(0)} i_{p(1)} \dots} = x_{i_0 i_1 \dots})",
      .rule = R"(\bar x = \operatorname{permute}(\bar y, p^{-1}))",
      .derivation = R"(The same elements under other axes: the cotangent goes back by the inverse order.)",
      .why_kept = "",
      .numpy = "np.transpose({x}, {axes})"};

  Tensor forward(const Tensor& x) const {
    Layout y = x.layout();
    for (int i = 0; i < x.rank(); ++i) {
      y.shape[i] = x.shape()[static_cast<int>(axes[i])];
      y.strides[i] = x.strides()[static_cast<int>(axes[i])];
    }
    return Tensor(x.storage(), y, x.dtype());
  }
  Grads vjp(const Vjp& v) const {
    Shape inverse = axes;
    for (int i = 0; i < axes.rank(); ++i) inverse[static_cast<int>(axes[i])] = i;
    return {permute(v.g, inverse)};
  }

  static void samples(Samples& s) {
    s.add(permute, s.randn({2, 3, 4}), Shape{2, 0, 1});
    s.add(permute, s.randn({2, 3}), Shape{-1, 0});
    s.add(permute, s.randn({}), Shape{});
    s.error("2 axes for shape [2, 3, 4]", permute, s.randn({2, 3, 4}), Shape{1, 0});
    s.error("axis 2 is out of range for shape [2, 3]; use -2 to 1", permute, s.randn({2, 3}), Shape{0, 2});
    s.error("axis 0 is named twice", permute, s.randn({2, 3}), Shape{0, 0});
  }
};

const Register<Permute> registered{permute, {"x", "axes"}};

}  // namespace

Tensor permute(const Tensor& x, const Shape& axes) {
  if (axes.rank() != x.rank()) fail("permute: {} axes for shape {}; name each axis once", axes.rank(), x.shape());
  Shape order = axes;
  unsigned seen = 0;
  for (int i = 0; i < order.rank(); ++i) {
    const std::int64_t given = axes[i];
    if (given < -x.rank() || given >= x.rank())
      fail("permute: axis {} is out of range for shape {}; use {} to {}", given, x.shape(), -x.rank(), x.rank() - 1);
    const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
    if ((seen >> axis) & 1U) fail("permute: axis {} is named twice in {}; name each axis once", axis, axes);
    seen |= 1U << axis;
    order[i] = axis;
  }
  return apply(Permute{order}, x);
}
Tensor Tensor::permute(const Shape& axes) const { return gradus::permute(*this, axes); }

}  // namespace gradus

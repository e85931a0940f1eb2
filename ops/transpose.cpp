#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Transpose {
  int axis0;
  int axis1;
  static constexpr OpInfo info{
      .name = "transpose",
      .math = R"(y_{j i} = x_{i j})",
      .rule = R"(\bar x = \bar y^{T})",
      .derivation = R"(The same elements with two axes exchanged; exchanging them again goes back.)",
      .why_kept = "",
      .numpy = "np.swapaxes({x}, {axis0}, {axis1})"};

  Tensor forward(const Tensor& x) const {
    Layout y = x.layout();
    std::swap(y.shape[axis0], y.shape[axis1]);
    std::swap(y.strides[axis0], y.strides[axis1]);
    return Tensor(x.storage(), y, x.dtype());
  }
  Grads vjp(const Vjp& v) const { return {transpose(v.g, axis0, axis1)}; }

  static void samples(Samples& s) {
    s.add(transpose, s.randn({2, 3}));
    s.add(transpose, s.randn({2, 3, 4}), 0, -1);
    s.add(transpose, s.randn({0, 3}));
    s.error("axis -2 is out of range for shape [3]", transpose, s.randn({3}));
  }
};

const Register<Transpose> registered{transpose, {"x", {"axis0", -2}, {"axis1", -1}}};

}  // namespace

Tensor transpose(const Tensor& x, int axis0, int axis1) {
  return apply(Transpose{checked_axis("transpose", x.shape(), axis0), checked_axis("transpose", x.shape(), axis1)}, x);
}
Tensor Tensor::transpose(int axis0, int axis1) const { return gradus::transpose(*this, axis0, axis1); }
Tensor Tensor::T() const { return gradus::transpose(*this); }

}  // namespace gradus

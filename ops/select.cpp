#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

struct Select {
  int axis;
  std::int64_t index;
  static constexpr OpInfo info{
      .name = "select",
      .math = R"(y_{j} = x_{i j})",
      .rule = R"(\bar x = \operatorname{pad}(\bar y))",
      .derivation =
          R"(The elements at one index of an axis are copied, the others enter nothing: their cotangent is 0.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "np.take({x}, {index}, axis={axis})"};

  Layout part(const Layout& x) const {
    Layout y = strided_part(x, axis, index, 1);
    y.shape.erase(axis);
    y.strides.erase(axis);
    return y;
  }
  Tensor forward(const Tensor& x) const { return part_of(x, part(x.layout())); }

  // The cotangent as [outer, 1, inner] between zeros.
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const Tensor row = reshape(v.g, around(shape, axis, 1));
    return {reshape(pad(row, {0, 0, index, shape[axis] - index - 1, 0, 0}), shape)};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {placed_in_zeros(v.g, v.x[0].shape(), [this](const Layout& dx) { return part(dx); })};
  }

  static void samples(Samples& s) {
    s.add(select, s.randn({4, 3}), 0, 2).for_benchmark();
    s.add(select, s.randn({2, 3, 4}), 1, -1);
    s.add(select, s.randn({3}), 0, 0);
    s.add(select, s.randn({2, 0}), 0, 1);
    s.add(select, s.indices({2, 3}, 9), -1, 1);
    s.error("index 3 is out of range for axis 0 of shape [3, 2]; use -3 to 2", select, s.randn({3, 2}), 0, 3);
    s.error("index -4 is out of range", select, s.randn({3, 2}), 0, -4);
    s.error("axis 0 of shape [0, 2] is empty", select, s.randn({0, 2}), 0, 0);
    s.error("axis 2 is out of range for shape [3, 2]", select, s.randn({3, 2}), 2, 0);
  }
};

const Register<Select> registered{select, {"x", "axis", "index"}};

}  // namespace

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  axis = checked_axis("select", x.shape(), axis);
  const std::int64_t n = x.shape()[axis];
  if (n == 0) fail("select: axis {} of shape {} is empty; nothing can be selected", axis, x.shape());
  if (index < -n || index >= n)
    fail("select: index {} is out of range for axis {} of shape {}; use {} to {}", index, axis, x.shape(), -n, n - 1);
  return apply(Select{axis, index < 0 ? index + n : index}, x);
}
Tensor Tensor::operator[](std::int64_t index) const { return select(*this, 0, index); }

}  // namespace gradus

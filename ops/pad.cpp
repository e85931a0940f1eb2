#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

#include <cmath>

namespace gradus {
namespace {

struct Pad {
  Shape widths;  // before and after axis 0, before and after axis 1, ...
  double value;
  static constexpr OpInfo info{
      .name = "pad",
      .math = R"(y_{a + j} = x_{j})",
      .rule = R"(\bar x_{j} = \bar y_{a + j})",
      .derivation = R"(Each x_j is copied to one place of y, and its cotangent is read there. The border is constant.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "(np.pad({x}, np.reshape({widths}, (-1, 2)), constant_values={value}) if np.ndim({x}) else {x})"};

  std::int64_t before(int axis) const { return widths[2 * axis]; }
  std::int64_t after(int axis) const { return widths[2 * axis + 1]; }

  Tensor forward(const Tensor& x) const {
    Shape shape = x.shape();
    for (int i = 0; i < shape.rank(); ++i)
      if (__builtin_add_overflow(shape[i], before(i), &shape[i]) ||
          __builtin_add_overflow(shape[i], after(i), &shape[i]))
        fail("pad: widths {} and {} around axis {} of shape {} exceed 2^63; use smaller ones", before(i), after(i), i,
             x.shape());
    Tensor y = full(shape, value, x.dtype());
    Layout inside = y.layout();
    for (int i = 0; i < shape.rank(); ++i) inside = strided_part(inside, i, before(i), x.shape()[i]);
    copy_into(part_of(y, inside), x);
    return y;
  }
  Grads vjp(const Vjp& v) const {
    Tensor dx = v.g;
    for (int i = 0; i < dx.rank(); ++i)
      if (before(i) != 0 || after(i) != 0) dx = slice(dx, i, before(i), before(i) + v.x[0].shape()[i]);
    return {dx};
  }

  static void samples(Samples& s) {
    s.add(pad, s.randn({3, 4}), Shape{1, 2, 0, 3}).for_benchmark();
    s.add(pad, s.randn({2, 3, 2}), Shape{0, 0, 1, 1, 0, 0}, -2.5);
    s.add(pad, s.randn({3}), Shape{2, 0}, 1.0);
    s.add(pad, s.randn({0, 2}), Shape{1, 1, 0, 0}, 3.0);
    s.add(pad, s.randn({}), Shape{});
    s.add(pad, s.randn({2, 2}), Shape{0, 0, 0, 0});
    s.add(pad, s.indices({2, 2}, 5), Shape{0, 1, 1, 0}, 7.0);
    s.error("2 widths for shape [2, 3]; give before and after for each axis, 4 in all", pad, s.randn({2, 3}),
            Shape{1, 1});
    s.error("width -1 is negative; use slice to cut", pad, s.randn({2}), Shape{-1, 0});
    s.error("5 axes", pad, s.randn({1, 1, 1, 1, 2}), Shape{0, 0, 0, 0, 0, 0, 1, 1});
    s.error("does not fit dtype i64", pad, s.indices({2}, 5), Shape{1, 1}, 0.5);
  }
};

const Register<Pad> registered{pad, {"x", "widths", {"value", 0}}};

}  // namespace

Tensor pad(const Tensor& x, const Shape& widths, double value) {
  if (2 * x.rank() > Shape::max_rank)
    fail("pad: shape {} has {} axes, widths describe at most 4; merge axes that are not padded with reshape", x.shape(),
         x.rank());
  if (widths.rank() != 2 * x.rank())
    fail("pad: {} widths for shape {}; give before and after for each axis, {} in all", widths.rank(), x.shape(),
         2 * x.rank());
  for (const std::int64_t width : widths)
    if (width < 0) fail("pad: width {} is negative; use slice to cut", width);
  if (x.dtype() == DType::i64 && !(std::abs(value) < 9e18 && value == std::nearbyint(value)))
    fail("pad: the value {} does not fit dtype i64; give a whole number", value);
  return apply(Pad{widths, value}, x);
}

}  // namespace gradus

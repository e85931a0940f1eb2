#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

struct Slice {
  int axis;
  std::int64_t start;
  std::int64_t stop;
  std::int64_t step;
  static constexpr OpInfo info{
      .name = "slice",
      .math = R"(y_{j} = x_{a + s j})",
      .rule = R"(\bar x = \operatorname{pad}(\bar y))",
      .derivation = R"(Every s-th element from a on is copied, the others enter nothing: their cotangent is 0.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "np.take({x}, np.arange({start}, {stop}, {step}), axis={axis})"};

  std::int64_t count() const { return stop > start ? (stop - start - 1) / step + 1 : 0; }
  Layout part(const Layout& x) const { return strided_part(x, axis, start, count(), step); }
  Tensor forward(const Tensor& x) const { return part_of(x, part(x.layout())); }

  // As [outer, count, inner] between zeros. A step first spreads the cotangent: each element becomes a row of `step`,
  // it and zeros.
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const Shape three = around(shape, axis, count());
    const std::int64_t n = shape[axis];
    Tensor g = reshape(v.g, three);
    std::int64_t width = count();
    if (step > 1 && width > 0) {
      g = pad(reshape(g, {three[0], width, 1, three[2]}), {0, 0, 0, 0, 0, step - 1, 0, 0});
      width = std::min(width * step, n - start);
      g = slice(reshape(g, {three[0], count() * step, three[2]}), 1, 0, width);
    }
    const std::int64_t before = std::min(start, n - width);
    return {reshape(pad(g, {0, 0, before, n - before - width, 0, 0}), shape)};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {placed_in_zeros(v.g, v.x[0].shape(), [this](const Layout& dx) { return part(dx); })};
  }

  static void samples(Samples& s) {
    s.add(slice, s.randn({4, 6}), 1, 1, 4).for_benchmark();
    s.add(slice, s.randn({5, 3}), 0);
    s.add(slice, s.randn({2, 7, 3}), 1, -6, -1, 2);
    s.add(slice, s.randn({2, 7}), -1, 0, to_the_end, 3);
    s.add(slice, s.randn({5}), 0, 1, 100, 9);
    s.add(slice, s.randn({4, 2}), 0, 3, 1);
    s.add(slice, s.randn({0, 2}), 0, 0, 3);
    s.add(slice, s.bools({6}), 0, -3);
    s.error("step 0 is not positive; use 1 or more", slice, s.randn({4}), 0, 0, to_the_end, 0);
    s.error("flip reverses an axis", slice, s.randn({4}), 0, 3, 0, -1);
    s.error("axis 0 is out of range for shape []", slice, s.randn({}), 0);
  }
  static constexpr std::optional<std::int64_t> to_the_end{};
};

const Register<Slice> registered{slice, {"x", "axis", {"start", 0}, {"stop", None}, {"step", 1}}};

}  // namespace

// Bounds as in Python: negative ones count from the end, those beyond an end mean that end.
Tensor slice(const Tensor& x, int axis, std::int64_t start, std::optional<std::int64_t> stop, std::int64_t step) {
  axis = checked_axis("slice", x.shape(), axis);
  if (step <= 0) fail("slice: step {} is not positive; use 1 or more, flip reverses an axis", step);
  const std::int64_t n = x.shape()[axis];
  const auto bound = [n](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
  return apply(Slice{axis, bound(start), bound(stop.value_or(n)), std::min(step, std::max<std::int64_t>(n, 1))}, x);
}

}  // namespace gradus

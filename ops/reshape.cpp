#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

// The strides that read x's elements as `shape` without moving them, if there are any.
std::optional<Layout> viewed(const Layout& x, const Shape& shape) {
  if (x.is_contiguous()) return Layout{shape, contiguous_strides(shape), x.offset};
  Layout y{shape, shape, x.offset};
  int from = x.shape.rank() - 1, to = shape.rank() - 1;
  // Match groups of axes with the same product, from the last on; within a group x must be dense.
  while (to >= 0 || from >= 0) {
    std::int64_t have = 1, need = 1, step = from >= 0 ? x.strides[from] : 1;
    std::int64_t expected = 0;
    const auto take = [&] {
      if (x.shape[from] != 1) {
        if (have == 1) step = x.strides[from];
        else if (x.strides[from] != expected) return false;
        expected = x.strides[from] * x.shape[from];
      }
      have *= x.shape[from--];
      return true;
    };
    if (from >= 0 && !take()) return {};
    const int last = to;
    if (to >= 0) need *= shape[to--];
    while (have != need) {
      if (have < need) {
        if (from < 0 || !take()) return {};
      } else {
        if (to < 0) return {};
        need *= shape[to--];
      }
    }
    for (int axis = last; axis > to; --axis) {
      y.strides[axis] = step;
      step *= shape[axis];
    }
  }
  return y;
}

struct Reshape {
  Shape shape;
  static constexpr OpInfo info{.name = "reshape",
                               .math = R"(y = \operatorname{reshape}(x))",
                               .rule = R"(\bar x = \operatorname{reshape}(\bar y))",
                               .derivation = R"(The elements and their order stay: so do the cotangents.)",
                               .why_kept = "only the shape of x, which the ghost knows",
                               .numpy = "np.reshape({x}, {shape})"};

  Tensor forward(const Tensor& x) const {
    if (x.numel() == 0) return Tensor(x.storage(), {shape, contiguous_strides(shape), x.layout().offset}, x.dtype());
    if (const auto layout = viewed(x.layout(), shape)) return Tensor(x.storage(), *layout, x.dtype());
    const Tensor y = packed(x);
    return Tensor(y.storage(), {shape, contiguous_strides(shape), y.layout().offset}, x.dtype());
  }
  Grads vjp(const Vjp& v) const { return {reshape(v.g, v.x[0].shape())}; }

  static void samples(Samples& s) {
    s.add(reshape, s.randn({2, 3}), Shape{3, 2});
    s.add(reshape, s.randn({2, 3, 4}), Shape{6, 4});
    s.add(reshape, s.randn({2, 3, 4}), Shape{4, -1});
    s.add(reshape, s.randn({1}), Shape{});
    s.add(reshape, s.randn({0, 3}), Shape{3, 0});
    s.error("[2, 3] has 6 elements, [4, 2] has 8", reshape, s.randn({2, 3}), Shape{4, 2});
    s.error("only one extent may be -1", reshape, s.randn({2, 3}), Shape{-1, -1});
  }
};

const Register<Reshape> registered{reshape, {"x", "shape"}};

// -1 stands for the extent that makes the number of elements fit.
Shape resolved(const Tensor& x, Shape shape) {
  int open = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1) {
      if (open >= 0) fail("reshape: {} has two open extents; only one extent may be -1", shape);
      open = i;
    } else if (shape[i] < 0) {
      fail("reshape: {} has a negative extent; use -1 for one extent to be found", shape);
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      fail("reshape: {} has more than 2^63 elements, {} has {}; the numbers must agree", shape, x.shape(), x.numel());
    }
  }
  if (open >= 0) {
    if (known == 0 || x.numel() % known != 0)
      fail("reshape: {} has {} elements, which {} cannot hold for any extent in place of -1", x.shape(), x.numel(),
           shape);
    shape[open] = x.numel() / known;
  }
  if (shape.numel() != x.numel())
    fail("reshape: {} has {} elements, {} has {}; the numbers must agree", x.shape(), x.numel(), shape, shape.numel());
  return shape;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) { return apply(Reshape{resolved(x, shape)}, x); }
Tensor Tensor::reshape(const Shape& shape) const { return gradus::reshape(*this, shape); }

}  // namespace gradus

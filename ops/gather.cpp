#include "core/indexing.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Gather {
  int axis;
  static constexpr OpInfo info{
      .name = "gather",
      .math = R"(y_{k j} = x_{i_{k j} j})",
      .rule = "\\bar x_{i j} = \\sum_{k : i_{k j} = i} \\bar y_{k j}\n\\text{none}",
      .derivation =
          R"(An element of x that is read several times gets the sum of those cotangents, one that is
not read gets 0.)",
      .why_kept = "the index, as a residual, and of x the shape alone",
      .numpy = "np.take_along_axis({x}, {index}, axis={axis})"};

  Forward forward(const Tensor& x, const Tensor& index) const {
    const Tensor checked = checked_index("gather", index, x.shape()[axis], "entries along the axis");
    return {gather_along(x, checked, axis), checked};
  }
  Grads vjp(const Vjp& v) const {
    return {scatter_add(zeros(v.x[0].shape(), v.g.dtype()), v.residuals[0], v.g, axis), Tensor{}};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {scatter_along(Tensor{}, v.x[0].shape(), v.residuals[0], v.g, axis), Tensor{}};
  }

  static void samples(Samples& s) {
    s.add(gather, s.randn({4, 5}), s.indices({4, 3}, 5), 1).for_benchmark();
    s.add(gather, s.randn({4, 2}), s.indices({7, 2}, 4), 0);
    s.add(gather, s.randn({2, 3, 4}), s.indices({2, 5, 4}, 3), -2);
    s.add(gather, s.randn({3}), gradus::indices({2, 2, 2, 0}), 0);
    s.add(gather, s.randn({3, 4}), s.indices({3, 0}, 4), 1);
    s.add(gather, s.indices({3, 4}, 9), s.indices({3, 2}, 4), 1);
    s.error("index 5 at position [1, 0] is out of range for 5 entries along the axis; use 0 to 4", gather,
            s.randn({2, 5}), indices_of({0, 5}, {2, 1}), 1);
    s.error("index -1 at position [0]", gather, s.randn({5}), gradus::indices({-1}), 0);
    s.error("index [2, 2] does not fit x [3, 5]", gather, s.randn({3, 5}), s.indices({2, 2}, 2), 1);
    s.error("index [2] does not fit x [3, 5]", gather, s.randn({3, 5}), s.indices({2}, 2), 1);
    s.error("the index has dtype f64, not i64", gather, s.randn({3}), s.randn({3}), 0);
  }
  static Tensor indices_of(std::vector<std::int64_t> values, const Shape& shape) {
    return gradus::indices(values, shape);
  }
};

const Register<Gather> registered{gather, {"x", "index", "axis"}};

}  // namespace

// The index has x's shape but for `axis`, where any extent will do.
Tensor gather(const Tensor& x, const Tensor& index, int axis) {
  axis = checked_axis("gather", x.shape(), axis);
  check_index_shape("gather", x, index, axis);
  return apply(Gather{axis}, x, index);
}

}  // namespace gradus

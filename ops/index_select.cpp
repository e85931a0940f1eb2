#include "core/indexing.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct IndexSelect {
  int axis;
  static constexpr OpInfo info{
      .name = "index_select",
      .math = R"(y_{k j} = x_{i_{k} j})",
      .rule = "\\bar x_{i j} = \\sum_{k : i_{k} = i} \\bar y_{k j}\n\\text{none}",
      .derivation =
          R"(A row of x that is read several times gets the sum of those cotangents, one that is not read gets 0.)",
      .why_kept = "the index, as a residual, and of x the shape alone",
      .numpy = "np.take({x}, {index}, axis={axis})"};

  Forward forward(const Tensor& x, const Tensor& index) const {
    const Tensor checked = checked_index("index_select", index, x.shape()[axis], "entries along the axis");
    return {take_along(x, checked, axis), checked};
  }
  // One index for each row is one for each element, repeated along the other axes.
  Grads vjp(const Vjp& v) const {
    const Tensor& index = v.residuals[0];
    Shape rows = v.x[0].shape(), column;
    rows[axis] = index.numel();
    for (int i = 0; i < rows.rank(); ++i) column.push_back(i == axis ? index.numel() : 1);
    const Tensor repeated = expand(reshape(index, column), rows);
    return {scatter_add(zeros(v.x[0].shape(), v.g.dtype()), repeated, reshape(v.g, rows), axis), Tensor{}};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {take_along_adjoint(v.g, v.residuals[0], v.x[0].shape(), axis), Tensor{}};
  }

  static void samples(Samples& s) {
    s.add(index_select, s.randn({3, 2}), gradus::indices({2, 0, 2}), 0);
    s.add(index_select, s.randn({5, 4}), s.indices({3}, 5), 0).for_benchmark();
    s.add(index_select, s.randn({2, 4, 3}), gradus::indices({3, 0, 3, 1}), 1);
    s.add(index_select, s.randn({3, 4}), s.indices({2, 3}, 4), -1);
    s.add(index_select, s.randn({3, 4}), s.indices({}, 3), 0);
    s.add(index_select, s.randn({1}), gradus::indices({0, 0}), 0);
    s.add(index_select, s.randn({3, 4}), s.indices({0}, 3), 0);
    s.add(index_select, s.bools({3, 4}), s.indices({2}, 3), 0);
    s.error("index 3 at position [1] is out of range for 3 entries along the axis; use 0 to 2", index_select,
            s.randn({3, 2}), gradus::indices({0, 3}), 0);
    s.error("index -1 at position [0]", index_select, s.randn({3}), gradus::indices({-1}), 0);
    s.error("index 0 at position [0] is out of range for 0 entries along the axis; nothing can be chosen", index_select,
            s.randn({0, 2}), gradus::indices({0}), 0);
    s.error("the index has dtype f64, not i64", index_select, s.randn({3}), s.randn({2}), 0);
  }
};

const Register<IndexSelect> registered{index_select, {"x", "index", "axis"}};

}  // namespace

// The index may have any shape: it takes the place of `axis`, as in NumPy's take.
Tensor index_select(const Tensor& x, const Tensor& index, int axis) {
  return apply(IndexSelect{checked_axis("index_select", x.shape(), axis)}, x, index);
}

}  // namespace gradus

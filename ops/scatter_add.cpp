#include "core/indexing.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct ScatterAdd {
  int axis;
  static constexpr OpInfo info{
      .name = "scatter_add",
      .math = R"(y_{i j} = x_{i j} + \sum_{k : i_{k j} = i} s_{k j})",
      .rule = "\\bar x = \\bar y\n\\text{none}\n\\bar s_{k j} = \\bar y_{i_{k j} j}",
      .derivation =
          R"(Each x_{i j} and each s_{k j} enters one sum with factor 1, so its cotangent is that of its sum.)",
      .why_kept = "the index, as a residual",
      .numpy = "scatter_add({x}, {index}, {src}, axis={axis})"};

  Forward forward(const Tensor& x, const Tensor& index, const Tensor& src) const {
    const Tensor checked = checked_index("scatter_add", index, x.shape()[axis], "entries along the axis");
    return {scatter_along(x, x.shape(), checked, src, axis), checked};
  }
  Grads vjp(const Vjp& v) const {
    return {Tensor(v.g), Tensor{}, v.want(2, [&] { return gather(v.g, v.residuals[0], axis); })};
  }

  static void samples(Samples& s) {
    s.add(scatter_add, s.randn({3}), gradus::indices({0, 2, 0, 1}), s.randn({4}), 0);
    s.add(scatter_add, s.randn({4, 5}), s.indices({4, 3}, 5), s.randn({4, 3}), 1).for_benchmark();
    s.add(scatter_add, s.randn({4, 2}), s.indices({7, 2}, 4), s.randn({7, 2}), 0);
    s.add(scatter_add, s.randn({2, 3, 4}), s.indices({2, 5, 4}, 3), s.randn({2, 5, 4}), -2);
    s.add(scatter_add, s.randn({1}), gradus::indices({0, 0}), s.randn({2}), 0);
    s.add(scatter_add, s.randn({3, 4}), s.indices({3, 0}, 4), s.randn({3, 0}), 1);
    s.add(scatter_add, s.indices({3}, 9), s.indices({4}, 3), s.indices({4}, 9), 0);
    s.error("index 3 at position [1] is out of range for 3 entries along the axis; use 0 to 2", scatter_add,
            s.randn({3}), gradus::indices({0, 3}), s.randn({2}), 0);
    s.error("src [3] has another shape than the index [2]", scatter_add, s.randn({4}), s.indices({2}, 4), s.randn({3}),
            0);
    s.error("index [2, 2] does not fit x [3, 5]", scatter_add, s.randn({3, 5}), s.indices({2, 2}, 2), s.randn({2, 2}),
            1);
    s.error("dtypes f64 and i64 do not mix", scatter_add, s.randn({3}), s.indices({3}, 3), s.indices({3}, 3), 0);
  }
};

const Register<ScatterAdd> registered{scatter_add, {"x", "index", "src", "axis"}};

}  // namespace

// y = x; then y[index[k, j], j] += src[k, j], for axis 0, in the order of k.
Tensor scatter_add(const Tensor& x, const Tensor& index, const Tensor& src, int axis) {
  operands("scatter_add", x, src);
  axis = checked_axis("scatter_add", x.shape(), axis);
  check_index_shape("scatter_add", x, index, axis);
  if (src.shape() != index.shape())
    fail("scatter_add: src {} has another shape than the index {}; give one value for each index", src.shape(),
         index.shape());
  return apply(ScatterAdd{axis}, x, index, src);
}

}  // namespace gradus

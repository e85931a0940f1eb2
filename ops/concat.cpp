#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

struct Concat {
  int axis;
  static constexpr OpInfo info{
      .name = "concat",
      .math = R"(y = (x_1, x_2, \dots))",
      .rule = R"(\bar x_k = \operatorname{slice}_k(\bar y))",
      .derivation = R"(Each element is copied to one place of y; each input reads its cotangent where it was put.)",
      .why_kept = "only the extents of the inputs, which the ghosts know",
      .numpy = "np.concatenate({tensors}, axis={axis})"};

  Tensor forward(TensorList tensors) const {
    Shape shape = tensors[0].shape();
    shape[axis] = 0;
    for (const Tensor& x : tensors) shape[axis] += x.shape()[axis];
    Tensor y(shape, tensors[0].dtype());
    std::int64_t start = 0;
    for (const Tensor& x : tensors) {
      copy_into(part_of(y, strided_part(y.layout(), axis, start, x.shape()[axis])), x);
      start += x.shape()[axis];
    }
    return y;
  }
  Grads vjp(const Vjp& v) const {
    PoolVector<Tensor> dx(v.x.size());
    std::int64_t start = 0;
    for (std::size_t k = 0; k < v.x.size(); ++k) {
      const std::int64_t n = v.x[k].shape()[axis];
      dx[k] = v.want(static_cast<int>(k), [&] { return slice(v.g, axis, start, start + n); });
      start += n;
    }
    return Grads(std::move(dx));
  }

  static void samples(Samples& s) {
    using List = std::vector<Tensor>;
    s.add(concat, List{s.randn({2, 3}), s.randn({4, 3})}).for_benchmark();
    s.add(concat, List{s.randn({2, 3, 2}), s.randn({2, 1, 2}), s.randn({2, 0, 2})}, 1);
    s.add(concat, List{s.randn({3}), s.randn({1})}, -1);
    s.add(concat, List{s.randn({0, 2}), s.randn({0, 3})}, 1);
    s.add(concat, List{s.randn({2, 2})}, 1);
    s.add(concat, List{s.indices({2}, 9), s.indices({3}, 9)});
    s.error("tensor 1 has shape [2, 4], tensor 0 [2, 3]", concat, List{s.randn({2, 3}), s.randn({2, 4})}, 0);
    s.error("tensor 1 has shape [3], tensor 0 [2, 3]", concat, List{s.randn({2, 3}), s.randn({3})}, 0);
    s.error("dtypes f64 and i64 do not mix", concat, List{s.randn({3}), s.indices({3}, 4)});
    s.error("the list is empty", concat, List{});
    s.error("a scalar has no axes", concat, List{s.randn({}), s.randn({})});
    s.error("axis 2 is out of range for shape [2, 3]", concat, List{s.randn({2, 3})}, 2);
  }
};

const Register<Concat> registered{concat, {"tensors", {"axis", 0}}};

}  // namespace

Tensor concat(TensorList tensors, int axis) {
  check_list("concat", tensors);
  const Shape& first = tensors[0].shape();
  axis = checked_axis("concat", first, axis);
  for (std::size_t k = 1; k < tensors.size(); ++k) {
    Shape shape = tensors[k].shape();
    if (shape.rank() == first.rank()) shape[axis] = first[axis];
    if (shape != first)
      fail("concat: tensor {} has shape {}, tensor 0 {}; all extents but that of axis {} must agree", k,
           tensors[k].shape(), first, axis);
  }
  return apply(Concat{axis}, tensors);
}

}  // namespace gradus

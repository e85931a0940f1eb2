#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

struct Stack {
  int axis;
  static constexpr OpInfo info{
      .name = "stack",
      .math = R"(y_{k i} = (x_k)_{i})",
      .rule = R"(\bar x_k = \operatorname{select}_k(\bar y))",
      .derivation = R"(Input k is copied to index k of a new axis and reads its cotangent there.)",
      .why_kept = "",
      .numpy = "np.stack({tensors}, axis={axis})"};

  Tensor forward(TensorList tensors) const {
    Shape shape = tensors[0].shape();
    shape.insert(axis, static_cast<std::int64_t>(tensors.size()));
    Tensor y(shape, tensors[0].dtype());
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      Layout part = strided_part(y.layout(), axis, static_cast<std::int64_t>(k), 1);
      part.shape.erase(axis);
      part.strides.erase(axis);
      copy_into(part_of(y, part), tensors[k]);
    }
    return y;
  }
  Grads vjp(const Vjp& v) const {
    PoolVector<Tensor> dx(v.x.size());
    for (std::size_t k = 0; k < v.x.size(); ++k)
      dx[k] = v.want(static_cast<int>(k), [&] { return select(v.g, axis, static_cast<std::int64_t>(k)); });
    return Grads(std::move(dx));
  }

  static void samples(Samples& s) {
    using List = std::vector<Tensor>;
    s.add(stack, List{s.randn({2, 3}), s.randn({2, 3})}).for_benchmark();
    s.add(stack, List{s.randn({2, 3}), s.randn({2, 3}), s.randn({2, 3})}, -1);
    s.add(stack, List{s.randn({2, 3}), s.randn({2, 3})}, 1);
    s.add(stack, List{s.randn({}), s.randn({})});
    s.add(stack, List{s.randn({0, 2}), s.randn({0, 2})}, 1);
    s.add(stack, List{s.bools({2})});
    s.error("tensor 1 has shape [3], tensor 0 [2]; all shapes must agree", stack, List{s.randn({2}), s.randn({3})});
    s.error("dtypes f64 and i64 do not mix", stack, List{s.randn({3}), s.indices({3}, 4)});
    s.error("the list is empty", stack, List{});
    s.error("axis 3 is out of range for the result's 2 axes", stack, List{s.randn({2})}, 3);
  }
};

const Register<Stack> registered{stack, {"tensors", {"axis", 0}}};

}  // namespace

Tensor stack(TensorList tensors, int axis) {
  check_list("stack", tensors);
  const Shape& first = tensors[0].shape();
  const int rank = first.rank() + 1;
  if (axis < -rank || axis >= rank)
    fail("stack: axis {} is out of range for the result's {} axes; use {} to {}", axis, rank, -rank, rank - 1);
  for (std::size_t k = 1; k < tensors.size(); ++k)
    if (tensors[k].shape() != first)
      fail("stack: tensor {} has shape {}, tensor 0 {}; all shapes must agree", k, tensors[k].shape(), first);
  return apply(Stack{axis < 0 ? axis + rank : axis}, tensors);
}

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Expand {
  Shape shape;
  static constexpr OpInfo info{
      .name = "expand",
      .math = R"(y_{i j} = x_{j})",
      .rule = R"(\bar x = \operatorname{sum}(\bar y))",
      .derivation = R"(One element of x is read at several places of y: its cotangent is the sum of theirs.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "np.broadcast_to({x}, {shape})"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& x) const {
    return Tensor(x.storage(), broadcast_to("expand", x.layout(), shape), x.dtype());
  }
  Grads vjp(const Vjp& v) const { return {Tensor(v.g)}; }  // the engine sums over the repeated axes

  static void samples(Samples& s) {
    s.add(expand, s.randn({3}), Shape{2, 3});
    s.add(expand, s.randn({3, 1}), Shape{2, 3, 4});
    s.add(expand, s.randn({}), Shape{2, 2});
    s.add(expand, s.randn({1, 3}), Shape{0, 3});
    s.add(expand, s.randn({3, 1}), Shape{2, -1, 4});
    s.error("axis 0 of [-1, 2, 3] is new for shape [2, 3]", expand, s.randn({2, 3}), Shape{-1, 2, 3});
    s.error("[-2, 3] has a negative extent", expand, s.randn({2, 3}), Shape{-2, 3});
    s.error("it has more axes", expand, s.randn({2, 3}), Shape{3});
    s.error("does not expand to [2, 4]", expand, s.randn({2, 3}), Shape{2, 4});
  }
};

const Register<Expand> registered{expand, {"x", "shape"}};

}  // namespace

// -1 keeps the extent of an axis that x has.
Tensor expand(const Tensor& x, const Shape& shape) {
  Shape full = shape;
  const int lead = shape.rank() - x.rank();
  for (int i = 0; i < shape.rank() && lead >= 0; ++i) {
    if (full[i] == -1 && i >= lead) full[i] = x.shape()[i - lead];
    if (full[i] == -1)
      fail("expand: axis {} of {} is new for shape {}; -1 keeps an extent, a new axis needs one", i, shape, x.shape());
    if (full[i] < 0) fail("expand: {} has a negative extent; use -1 to keep the extent of an axis", shape);
  }
  full.numel();  // an Error when it overflows
  return apply(Expand{full}, x);
}
Tensor Tensor::expand(const Shape& shape) const { return gradus::expand(*this, shape); }

}  // namespace gradus

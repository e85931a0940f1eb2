#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Expand {
  Shape shape;
  static constexpr OpInfo info{.name = "expand",
                               .math = R"(y_{i j} = x_{j})",
                               .rule = R"(\bar x = \operatorname{sum}(\bar y))",
                               .derivation = R"(One element of x is read at several places of y: its cotangent is the sum of theirs.)",
                               .why_kept = "nothing: only the shape of x, which the ghost knows",
                               .numpy = "np.broadcast_to({x}, {shape})"};
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& x) const { return Tensor(x.storage(), broadcast_to("expand", x.layout(), shape), x.dtype()); }
  Grads vjp(const Vjp& v) const { return {Tensor(v.g)}; }  // the engine sums over the repeated axes

  static void samples(Samples& s) {
    s.add(expand, s.randn({3, 1}), Shape{2, 3, 4});
    s.add(expand, s.randn({}), Shape{2, 2});
    s.add(expand, s.randn({1, 3}), Shape{0, 3});
    s.error("does not expand to [2, 4]", expand, s.randn({2, 3}), Shape{2, 4});
  }
};

const Register<Expand> registered{expand, {"x", "shape"}};

}  // namespace

Tensor expand(const Tensor& x, const Shape& shape) {
  Shape full = shape;
  for (int i = 0, lead = shape.rank() - x.rank(); i < x.rank() && lead >= 0; ++i)
    if (full[lead + i] == -1) full[lead + i] = x.shape()[i];
  return apply(Expand{full}, x);
}
Tensor Tensor::expand(const Shape& shape) const { return gradus::expand(*this, shape); }

}  // namespace gradus

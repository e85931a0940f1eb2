#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct Sum {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "sum",
      .math = R"(y = \sum_{i} x_i)",
      .rule = R"(\bar x = \operatorname{expand}(\bar y))",
      .derivation = R"(Each x_i enters one sum with factor 1, so its cotangent is that of its sum.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "np.sum({x}, axis={axis}, keepdims={keepdim})"};

  Tensor forward(const Tensor& x) const { return sum_over(x, axis.mask("sum", x.shape()), keepdim); }
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    return {expand(with_axes(v.g, shape, axis.mask("sum", shape)), shape)};
  }

  static void samples(Samples& s) {
    s.add(sum, s.randn({2, 3, 4})).for_benchmark();
    s.add(sum, s.randn({2, 3, 4}), 1);
    s.add(sum, s.randn({2, 3, 4}), Axes{0, -1}, true);
    s.add(sum, s.randn({300, 4}), 0);
    s.add(sum, s.randn({3, 70, 5}), 1);
    s.add(sum, s.randn({2, 0}), 1);
    s.add(sum, s.randn({}));
    s.add(sum, s.bools({3, 4}), 0);
    s.error("axis 2 is out of range for shape [3, 3]", sum, s.randn({3, 3}), 2);
    s.error("axis 1 is named twice", sum, s.randn({3, 3}), Axes{1, -1});
  }
};

const Register<Sum> registered{sum, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor sum(const Tensor& x, const Axes& axis, bool keepdim) { return apply(Sum{axis, keepdim}, x); }
Tensor Tensor::sum() const { return gradus::sum(*this); }
Tensor Tensor::sum(const Axes& axis, bool keepdim) const { return gradus::sum(*this, axis, keepdim); }

}  // namespace gradus

#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

struct Mean {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "mean",
      .math = R"(y = (\sum_{i} x_i) / n)",
      .rule = R"(\bar x = \operatorname{expand}(\bar y / n))",
      .derivation = R"(Each of the n elements x_i enters its mean with factor 1/n, so its cotangent is that of
its mean divided by n.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "np.mean({x}, axis={axis}, keepdims={keepdim})"};

  Tensor forward(const Tensor& x) const {
    if (!is_floating(x.dtype())) fail_not_floating("mean", x.dtype());
    const unsigned mask = axis.mask("mean", x.shape());
    return sum_over(x, mask, keepdim, static_cast<double>(reduced_count(x.shape(), mask)));
  }
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const unsigned mask = axis.mask("mean", shape);
    return {expand(with_axes(v.g / reduced_count(shape, mask), shape, mask), shape)};
  }

  static void samples(Samples& s) {
    s.add(mean, s.randn({2, 3, 4})).for_benchmark();
    s.add(mean, s.randn({2, 3, 4}), 1);
    s.add(mean, s.randn({2, 3, 4}), Axes{0, -1}, true);
    s.add(mean, s.randn({300, 4}), 0);
    s.add(mean, s.randn({0, 3}), 1);
    s.add(mean, s.randn({}));
    s.error("axis 2 is out of range for shape [3, 3]", mean, s.randn({3, 3}), 2);
    s.error("dtype i64 is not floating; cast", mean, s.indices({3}, 5));
    s.error("dtype b8 is not floating; cast", mean, s.bools({3}));
  }
};

const Register<Mean> registered{mean, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor mean(const Tensor& x, const Axes& axis, bool keepdim) { return apply(Mean{axis, keepdim}, x); }
Tensor Tensor::mean() const { return gradus::mean(*this); }
Tensor Tensor::mean(const Axes& axis, bool keepdim) const { return gradus::mean(*this, axis, keepdim); }

}  // namespace gradus

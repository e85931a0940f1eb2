#include "ops/loss.hpp"

namespace gradus {
namespace {

// The derivative of |d|: 0 at the kink; NaN stays NaN.
template <class T>
T sign_of(T d) {
  return d > 0 ? T{1} : (d < 0 ? T{-1} : d);
}

struct L1 {
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "l1",
      .math = R"(y = \frac{1}{N} \sum_i |x_i - t_i|)",
      .rule =
          "\\bar x_i = \\frac{1}{N} \\bar y \\operatorname{sign}(x_i - t_i)\n"
          "\\bar t_i = -\\frac{1}{N} \\bar y \\operatorname{sign}(x_i - t_i)",
      .derivation = R"(|d| has the derivative \operatorname{sign}(d), and 0 at the kink d = 0. N is the
number of elements for the mean, 1 for the sum; without reduction each element has its own \bar y_i.)",
      .why_kept = "the rule needs the sign of x - t",
      .numpy = "l1({x}, {target}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x, const Tensor& target) const {
    return loss::fold("l1", x, target, reduction, [](auto a, auto t) { return std::abs(a - t); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor c = loss::cotangent(v, reduction);
    return {v.want(0, [&] { return local_product(c, sign(v.x[0] - v.x[1])); }),
            v.want(1, [&] { return local_product(c, sign(v.x[1] - v.x[0])); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {v.want(0, [&] { return loss::gradient(v, reduction, [](auto a, auto t) { return sign_of(a - t); }); }),
            v.want(1, [&] { return loss::gradient(v, reduction, [](auto a, auto t) { return sign_of(t - a); }); })};
  }

  static void samples(Samples& s) {
    loss::add_samples(s, l1, s.randn({2, 3}), s.randn({2, 3}));
    s.add(l1, s.tensor({1, 2}), s.tensor({1, 3})).at_kink();
  }
};

const Register<L1> registered{l1, {"x", "target", {"reduction", "mean"}}};

}  // namespace

Tensor l1(const Tensor& x, const Tensor& target, Reduction reduction) {
  loss::check_pair("l1", x, target);
  return apply(L1{reduction}, x, target);
}

}  // namespace gradus

#include "ops/loss.hpp"

namespace gradus {
namespace {

struct Mse {
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "mse",
      .math = R"(y = \frac{1}{N} \sum_i (x_i - t_i)^{2})",
      .rule =
          "\\bar x_i = \\frac{2}{N} \\bar y (x_i - t_i)\n"
          "\\bar t_i = -\\frac{2}{N} \\bar y (x_i - t_i)",
      .derivation = R"(The square has the derivative 2 (x_i - t_i), with the opposite sign for t_i.
N is the number of elements for the mean, 1 for the sum; without reduction each element has its own \bar y_i.)",
      .why_kept = "the rule needs the difference x - t",
      .numpy = "mse({x}, {target}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x, const Tensor& target) const {
    return loss::fold("mse", x, target, reduction, [](auto a, auto t) { return (a - t) * (a - t); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor c = loss::cotangent(v, reduction);
    return {v.want(0, [&] { return local_product(c, 2 * (v.x[0] - v.x[1])); }),
            v.want(1, [&] { return local_product(c, 2 * (v.x[1] - v.x[0])); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {v.want(0, [&] { return loss::gradient(v, reduction, [](auto a, auto t) { return 2 * (a - t); }); }),
            v.want(1, [&] { return loss::gradient(v, reduction, [](auto a, auto t) { return 2 * (t - a); }); })};
  }

  static void samples(Samples& s) { loss::add_samples(s, mse, s.randn({2, 3}), s.randn({2, 3})); }
};

const Register<Mse> registered{mse, {"x", "target", {"reduction", "mean"}}};

}  // namespace

Tensor mse(const Tensor& x, const Tensor& target, Reduction reduction) {
  loss::check_pair("mse", x, target);
  return apply(Mse{reduction}, x, target);
}

}  // namespace gradus

#include "ops/loss.hpp"

namespace gradus {
namespace {

// The derivative of Huber's loss: the difference, held within -delta and delta; NaN stays NaN.
template <class T>
T held(T d, T delta) {
  return d > delta ? delta : (d < -delta ? -delta : d);
}

struct Huber {
  double delta;
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "huber",
      .math = R"(y = \frac{1}{N} \sum_i h(x_i - t_i), h(d) = |d| \le \delta ? d^{2} / 2 : \delta (|d| - \delta / 2))",
      .rule =
          "\\bar x_i = \\frac{1}{N} \\bar y \\operatorname{clamp}(x_i - t_i, -\\delta, \\delta)\n"
          "\\bar t_i = -\\frac{1}{N} \\bar y \\operatorname{clamp}(x_i - t_i, -\\delta, \\delta)",
      .derivation =
          R"(h'(d) = d inside, \delta \operatorname{sign}(d) outside: the difference held within -\delta and \delta.
The two pieces meet with the same slope. N is the number of elements for the mean, 1 for the sum.)",
      .why_kept = "the rule needs the difference x - t",
      .numpy = "huber({x}, {target}, delta={delta}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x, const Tensor& target) const {
    return loss::fold("huber", x, target, reduction, [bound = delta](auto a, auto t) {
      const auto limit = static_cast<decltype(a)>(bound);
      const auto d = std::abs(a - t);
      return d > limit ? limit * (d - limit / 2) : d * d / 2;
    });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor c = loss::cotangent(v, reduction);
    return {v.want(0, [&] { return local_product(c, clamp(v.x[0] - v.x[1], -delta, delta)); }),
            v.want(1, [&] { return local_product(c, clamp(v.x[1] - v.x[0], -delta, delta)); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    const auto ahead = [bound = delta](auto a, auto t) { return held(a - t, static_cast<decltype(a)>(bound)); };
    const auto behind = [bound = delta](auto a, auto t) { return held(t - a, static_cast<decltype(a)>(bound)); };
    return {v.want(0, [&] { return loss::gradient(v, reduction, ahead); }),
            v.want(1, [&] { return loss::gradient(v, reduction, behind); })};
  }

  static void samples(Samples& s) {
    loss::add_samples(s, huber, s.randn({2, 3}), s.randn({2, 3}), 0.7);
    s.add(huber, s.tensor({0, 5, -5}), s.tensor({0.25, 1, 1}));
    s.error("delta is -1", huber, s.randn({2}), s.randn({2}), -1.0);
  }
};

const Register<Huber> registered{huber, {"x", "target", {"delta", 1.0}, {"reduction", "mean"}}};

}  // namespace

Tensor huber(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  loss::check_pair("huber", x, target);
  if (!(delta > 0)) fail("huber: delta is {}; give the positive difference where the loss turns linear", delta);
  return apply(Huber{delta, reduction}, x, target);
}

}  // namespace gradus

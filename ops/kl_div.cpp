#include "core/vector_math.hpp"
#include "ops/loss.hpp"

namespace gradus {
namespace {

// What a target of probability p = 0 costs: nothing, whatever the logarithm beside it is (0 log 0 = 0).
template <class T>
T weighted(T p, T value) {
  return p == T{0} ? T{0} : p * value;
}

struct KlDiv {
  bool log_target;
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "kl_div",
      .math = R"(y = \frac{1}{N} \sum_i p_i (\log p_i - x_i))",
      .rule =
          "\\bar x_i = -\\frac{1}{N} \\bar y p_i\n"
          "\\bar p_i = \\frac{1}{N} \\bar y (\\log p_i - x_i + 1)",
      .derivation =
          R"(x holds log-probabilities, p probabilities. Each term is linear in x_i with slope -p_i; by the product rule
its derivative by p_i is \log p_i - x_i + p_i / p_i. With log_target the target is u = \log p, and \bar u_i = \bar p_i p_i.
N is the number of elements for the mean, 1 for the sum. 0 \log 0 counts as 0.)",
      .why_kept = "the rule needs x and the target",
      .numpy = "kl_div({x}, {target}, log_target={log_target}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x, const Tensor& target) const {
    if (log_target)
      return loss::fold("kl_div", x, target, reduction, [](auto a, auto u) { return weighted(math::exp(u), u - a); });
    return loss::fold("kl_div", x, target, reduction, [](auto a, auto p) { return weighted(p, math::log(p) - a); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor c = loss::cotangent(v, reduction);
    const Tensor &x = v.x[0], &t = v.x[1];
    if (log_target)
      return {v.want(0, [&] { return local_product(c, -exp(t)); }),
              v.want(1, [&] { return local_product(c, local_product(exp(t), t - x + 1)); })};
    return {v.want(0, [&] { return local_product(c, -t); }),
            v.want(1, [&] { return local_product(c, log(t) - x + 1); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    const auto rule = [&](auto along_x, auto along_target) -> Grads {
      return {v.want(0, [&] { return loss::gradient(v, reduction, along_x); }),
              v.want(1, [&] { return loss::gradient(v, reduction, along_target); })};
    };
    if (log_target)
      return rule([](auto, auto u) { return -math::exp(u); },
                  [](auto a, auto u) { return weighted(math::exp(u), u - a + 1); });
    return rule([](auto, auto p) { return -p; }, [](auto a, auto p) { return math::log(p) - a + 1; });
  }

  static void samples(Samples& s) {
    const Tensor x = log_softmax(s.randn({2, 3})), p = softmax(s.randn({2, 3}));
    s.add(kl_div, x, p).for_benchmark();
    s.add(kl_div, x, p, false, Reduction::sum);
    s.add(kl_div, x, p, false, Reduction::none);
    s.add(kl_div, x, log_softmax(s.randn({2, 3})), true);
    s.add(kl_div, x, log_softmax(s.randn({2, 3})), true, Reduction::none);
    s.add(kl_div, s.full({}, -0.7), s.full({}, 0.25));
    s.add(kl_div, s.tensor({-0.5, -2}), s.tensor({0, 1})).at_kink();
    s.add(kl_div, s.randn({0, 3}), s.uniform({0, 3}, 0, 1), false, Reduction::sum);
    s.error("x has shape [2, 1], the target [2]; losses do not broadcast", kl_div, s.randn({2, 1}), s.randn({2}));
    s.error("dtypes f64 and i64 do not mix", kl_div, s.randn({2}), s.indices({2}, 2));
  }
};

const Register<KlDiv> registered{kl_div, {"x", "target", {"log_target", false}, {"reduction", "mean"}}};

}  // namespace

Tensor kl_div(const Tensor& x, const Tensor& target, bool log_target, Reduction reduction) {
  loss::check_pair("kl_div", x, target);
  return apply(KlDiv{log_target, reduction}, x, target);
}

}  // namespace gradus

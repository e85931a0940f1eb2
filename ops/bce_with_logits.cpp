#include "core/vector_math.hpp"
#include "ops/loss.hpp"

namespace gradus {
namespace {

// log(1 + e) for e in [0, 1]: what rounding 1 + e lost is put back by the factor e / ((1 + e) - 1).
inline double log_one_plus(double e) { return std::log1p(e); }
inline float log_one_plus(float e) {
  const float u = 1.0F + e;
  return u == 1.0F ? e : math::log(u) * (e / (u - 1.0F));
}

// (1 - t) log(1 + e^x) + t log(1 + e^-x), where log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). Only one of the maxima is
// not 0, and its factor 0 selects it away, so that x = -inf with t = 0 is a certain and right answer: loss 0.
template <class T>
T bce_term(T x, T t) {
  const T tail = log_one_plus(math::exp(-std::abs(x)));
  return tail + (x < 0 ? local_product_of(t, -x) : local_product_of(T{1} - t, x));
}

struct BceWithLogits {
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "bce_with_logits",
      .math = R"(y = -\frac{1}{N} \sum_i (t_i \log \sigma(x_i) + (1 - t_i) \log (1 - \sigma(x_i))))",
      .rule =
          "\\bar x_i = \\frac{1}{N} \\bar y (\\sigma(x_i) - t_i)\n"
          "\\bar t_i = -\\frac{1}{N} \\bar y x_i",
      .derivation =
          R"(-\log \sigma(x) = \log(1 + e^{-x}) and -\log(1 - \sigma(x)) = \log(1 + e^{x}) = x + \log(1 + e^{-x}), so each
term is \log(1 + e^{x}) - t x: its derivatives are \sigma(x) - t and -x.)",
      .why_kept = "the rule needs x and t",
      .numpy = "bce_with_logits({x}, {target}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x, const Tensor& target) const {
    return loss::fold("bce_with_logits", x, target, reduction, [](auto a, auto t) { return bce_term(a, t); });
  }
  Grads vjp(const Vjp& v) const {
    const Tensor c = loss::cotangent(v, reduction);
    return {v.want(0, [&] { return local_product(c, sigmoid(v.x[0]) - v.x[1]); }),
            v.want(1, [&] { return local_product(c, -v.x[0]); })};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {
        v.want(0, [&] { return loss::gradient(v, reduction, [](auto a, auto t) { return math::sigmoid(a) - t; }); }),
        v.want(1, [&] { return loss::gradient(v, reduction, [](auto a, auto) { return -a; }); })};
  }

  static void samples(Samples& s) {
    loss::add_samples(s, bce_with_logits, s.randn({2, 3}), s.uniform({2, 3}, 0, 1));
    s.add(bce_with_logits, s.tensor({100, 100, -100, 0, 0}), s.tensor({1, 0, 0, 0, 1}), Reduction::none);
  }
};

const Register<BceWithLogits> registered{bce_with_logits, {"x", "target", {"reduction", "mean"}}};

}  // namespace

Tensor bce_with_logits(const Tensor& x, const Tensor& target, Reduction reduction) {
  loss::check_pair("bce_with_logits", x, target);
  return apply(BceWithLogits{reduction}, x, target);
}

}  // namespace gradus

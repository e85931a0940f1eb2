#include "ops/normalise.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct LayerNorm {
  double eps;
  static constexpr OpInfo info{
      .name = "layer_norm",
      .math = R"(y = w \odot \hat x + b, \hat x = (x - \mu) / \sqrt{v + \epsilon}, \mu = \frac{1}{n} \sum_i x_i,
v = \frac{1}{n} \sum_i (x_i - \mu)^{2})",
      .rule =
          "\\bar x_i = (h_i - \\frac{1}{n} \\sum_j h_j - \\hat x_i \\frac{1}{n} \\sum_j h_j \\hat x_j) / \\sqrt{v + "
          "\\epsilon}, "
          "h = w \\odot \\bar y\n"
          "\\bar w = \\operatorname{sum}(\\bar y \\odot \\hat x)\n"
          "\\bar b = \\operatorname{sum}(\\bar y)",
      .derivation = R"(Along one row, with s = \sqrt{v + \epsilon}: \partial \mu / \partial x_i = 1 / n and
\partial s / \partial x_i = \hat x_i / n, since the differences x_j - \mu add up to 0. So
\partial \hat x_j / \partial x_i = (\delta_{i j} - 1 / n - \hat x_i \hat x_j / n) / s. The cotangent of \hat x is h = w \odot \bar y.
w and b serve every row: their cotangents are added up over the rows.)",
      .why_kept = "\\hat x comes again from x with the mean and 1 / s of each row, two numbers instead of n",
      .numpy = "layer_norm({x}, {weight}, {bias}, eps={eps})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    const Tensor d = x - mean(x, -1, keepdim);
    Tensor y = d * rsqrt(mean(d * d, -1, keepdim) + eps);
    if (weight.defined()) y = y * weight;
    if (bias.defined()) y = y + bias;
    return y;
  }
  Forward forward(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return normalise::forward<true>("layer_norm", x, weight, bias, eps);
  }
  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }
  Grads fused_vjp(const Vjp& v) const { return normalise::rule<true>(v); }

  static void samples(Samples& s) {
    s.add(layer_norm, s.randn({3, 5}), s.randn({5}), s.randn({5})).for_benchmark();
    s.add(layer_norm, s.randn({2, 3, 4}));
    s.add(layer_norm, s.randn({2, 4}), s.randn({4}));
    s.add(layer_norm, s.randn({2, 4}), Tensor{}, s.randn({4}), 1e-3);
    s.add(layer_norm, s.randn({40, 3}), s.randn({3}), s.randn({3}));
    s.add(layer_norm, s.randn({7}), s.randn({7}), s.randn({7}));
    s.add(layer_norm, s.randn({1, 0, 10}), s.randn({10}), s.randn({10}));
    s.add(layer_norm, s.randn({2, 0}), s.randn({0}), s.randn({0}));
    s.error("weight has shape [3], not [5]", layer_norm, s.randn({2, 5}), s.randn({3}));
    s.error("bias has shape [5, 1], not [5]", layer_norm, s.randn({2, 5}), s.randn({5}), s.randn({5, 1}));
    s.error("x has shape []", layer_norm, s.randn({}));
    s.error("eps is -1", layer_norm, s.randn({3}), Tensor{}, Tensor{}, -1.0);
    s.error("dtype i64 is not floating", layer_norm, s.indices({3}, 4));
  }
};

const Register<LayerNorm> registered{layer_norm, {"x", {"weight", None}, {"bias", None}, {"eps", 1e-5}}};

}  // namespace

// Ba, Kiros and Hinton 2016, "Layer normalization".
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  normalise::check("layer_norm", x, weight, bias, eps);
  return apply(LayerNorm{eps}, x, weight, bias);
}

}  // namespace gradus

#include "ops/normalise.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct RmsNorm {
  double eps;
  static constexpr OpInfo info{
      .name = "rms_norm",
      .math = R"(y = w \odot \hat x, \hat x = x / r, r = \sqrt{\frac{1}{n} \sum_i x_i^{2} + \epsilon})",
      .rule =
          "\\bar x_i = (h_i - \\hat x_i \\frac{1}{n} \\sum_j h_j \\hat x_j) / r, h = w \\odot \\bar y\n"
          "\\bar w = \\operatorname{sum}(\\bar y \\odot \\hat x)",
      .derivation = R"(Along one row \partial r / \partial x_i = x_i / (n r) = \hat x_i / n, so
\partial \hat x_j / \partial x_i = (\delta_{i j} - \hat x_i \hat x_j / n) / r. The cotangent of \hat x is h = w \odot \bar y; w serves
every row, so its cotangent is added up over the rows.)",
      .why_kept = "\\hat x comes again from x with 1 / r of each row, one number instead of n",
      .numpy = "rms_norm({x}, {weight}, eps={eps})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor reference(const Tensor& x, const Tensor& weight) const {
    const Tensor y = x * rsqrt(mean(x * x, -1, keepdim) + eps);
    return weight.defined() ? y * weight : y;
  }
  Forward forward(const Tensor& x, const Tensor& weight) const {
    return normalise::forward<false>("rms_norm", x, weight, Tensor{}, eps);
  }
  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }
  Grads fused_vjp(const Vjp& v) const { return normalise::rule<false>(v); }

  static void samples(Samples& s) {
    s.add(rms_norm, s.randn({3, 5}), s.randn({5})).for_benchmark();
    s.add(rms_norm, s.randn({2, 3, 4}));
    s.add(rms_norm, s.randn({2, 4}), s.randn({4}), 1e-3);
    s.add(rms_norm, s.randn({40, 3}), s.randn({3}));
    s.add(rms_norm, s.randn({7}), s.randn({7}));
    s.add(rms_norm, s.randn({1, 0, 10}), s.randn({10}));
    s.add(rms_norm, s.randn({2, 0}), s.randn({0}));
    s.error("weight has shape [3], not [5]", rms_norm, s.randn({2, 5}), s.randn({3}));
    s.error("x has shape []", rms_norm, s.randn({}));
    s.error("dtype i64 is not floating", rms_norm, s.indices({3}, 4));
  }
};

const Register<RmsNorm> registered{rms_norm, {"x", {"weight", None}, {"eps", 1e-5}}};

}  // namespace

// Zhang and Sennrich 2019, "Root mean square layer normalization".
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  normalise::check("rms_norm", x, weight, Tensor{}, eps);
  return apply(RmsNorm{eps}, x, weight);
}

}  // namespace gradus

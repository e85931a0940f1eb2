#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Sigmoid {
  static constexpr OpInfo info{
      .name = "sigmoid",
      .math = R"(y = 1 / (1 + e^{-x}))",
      .rule = R"(\bar x = \bar y \odot y \odot (1 - y))",
      .derivation = R"(\partial y / \partial x = e^{-x} / (1 + e^{-x})^{2}: the product of y = 1 / (1 + e^{-x}) and
1 - y = e^{-x} / (1 + e^{-x}).)",
      .why_kept = "the rule needs y, not x",
      .numpy = "1 / (1 + np.exp(-{x}))"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("sigmoid", x, [](auto v) { return math::sigmoid(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, v.y * (1.0 - v.y))}; }
  Grads fused_vjp(const Vjp& v) const {
    return {local_product_map(v.g, v.y, [](auto y) { return y * (1 - y); })};
  }

  static void samples(Samples& s) {
    s.add(sigmoid, s.randn({2, 5})).for_benchmark();
    s.add(sigmoid, s.randn({}));
    s.add(sigmoid, s.randn({0, 3}));
    s.add(sigmoid, s.tensor({-1000.0, 1000.0, 0.0}));
    s.error("dtype i64 is not floating; cast", sigmoid, s.indices({3}, 5));
  }
};

const Register<Sigmoid> registered{sigmoid, {"x"}};

}  // namespace

Tensor sigmoid(const Tensor& x) { return apply(Sigmoid{}, x); }

}  // namespace gradus

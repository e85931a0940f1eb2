#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Cos {
  static constexpr OpInfo info{
      .name = "cos",
      .math = R"(y = \cos x)",
      .rule = R"(\bar x = -\bar y \odot \sin x)",
      .derivation = R"(\cos x = \sin(x + \pi / 2), whose slope is \cos(x + \pi / 2) = -\sin x.)",
      .why_kept = "the rule needs x",
      .numpy = "np.cos({x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("cos", x, [](auto v) { return std::cos(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, -sin(v.x[0]))}; }

  static void samples(Samples& s) {
    s.add(cos, s.randn({2, 5})).for_benchmark();
    s.add(cos, s.randn({}));
    s.add(cos, s.randn({0, 3}));
    s.error("dtype i64 is not floating; cast", cos, s.indices({3}, 5));
  }
};

const Register<Cos> registered{cos, {"x"}};

}  // namespace

Tensor cos(const Tensor& x) { return apply(Cos{}, x); }

}  // namespace gradus

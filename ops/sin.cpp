#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Sin {
  static constexpr OpInfo info{
      .name = "sin",
      .math = R"(y = \sin x)",
      .rule = R"(\bar x = \bar y \odot \cos x)",
      .derivation = R"(By the addition theorem \sin(x + h) = \sin x \cos h + \cos x \sin h, and \sin h / h goes to 1,
(\cos h - 1) / h to 0: the slope is \cos x.)",
      .why_kept = "the rule needs x",
      .numpy = "np.sin({x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("sin", x, [](auto v) { return std::sin(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, cos(v.x[0]))}; }

  static void samples(Samples& s) {
    s.add(sin, s.randn({2, 5})).for_benchmark();
    s.add(sin, s.randn({}));
    s.add(sin, s.randn({0, 3}));
    s.error("dtype i64 is not floating; cast", sin, s.indices({3}, 5));
  }
};

const Register<Sin> registered{sin, {"x"}};

}  // namespace

Tensor sin(const Tensor& x) { return apply(Sin{}, x); }

}  // namespace gradus

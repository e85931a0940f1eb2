#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Neg {
  static constexpr OpInfo info{.name = "neg",
                               .math = R"(y = -x)",
                               .rule = R"(\bar x = -\bar y)",
                               .derivation = R"(The slope is -1.)",
                               .why_kept = "the slope is constant",
                               .numpy = "-{x}"};

  Tensor forward(const Tensor& x) const {
    return map_numbers("neg", x, [](auto v) { return -v; });
  }
  Grads vjp(const Vjp& v) const { return {-v.g}; }

  static void samples(Samples& s) {
    s.add(neg, s.randn({2, 5})).for_benchmark();
    s.add(neg, s.randn({}));
    s.add(neg, s.randn({0, 3}));
    s.add(neg, s.indices({4}, 5));
    s.error("dtype b8 holds truth values", neg, s.bools({3}));
  }
};

const Register<Neg> registered{neg, {"x"}};

}  // namespace

Tensor neg(const Tensor& x) { return apply(Neg{}, x); }
Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace gradus

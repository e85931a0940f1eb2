#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Sign {
  static constexpr OpInfo info{
      .name = "sign",
      .math = R"(y = x > 0 ? 1 : (x < 0 ? -1 : 0))",
      .rule = R"(\bar x = 0)",
      .derivation =
          R"(The sign does not change with x, except at 0 where it jumps: its gradient is 0 everywhere. The sign of NaN is NaN.)",
      .why_kept = "the gradient is 0",
      .numpy = "np.sign({x})"};

  Tensor forward(const Tensor& x) const {
    return map_numbers("sign", x, [](auto v) {
      using T = decltype(v);
      return v > 0 ? T{1} : (v < 0 ? T{-1} : v);  // v is a zero or NaN
    });
  }
  Grads vjp(const Vjp&) const { return {Tensor{}}; }

  static void samples(Samples& s) {
    s.add(sign, s.randn({2, 5})).for_benchmark();
    s.add(sign, s.randn({}));
    s.add(sign, s.randn({0, 3}));
    s.add(sign, s.tensor({0.0, -2.0})).at_kink();
    s.add(sign, s.indices({4}, 5));
    s.error("dtype b8 holds truth values", sign, s.bools({3}));
  }
};

const Register<Sign> registered{sign, {"x"}};

}  // namespace

Tensor sign(const Tensor& x) { return apply(Sign{}, x); }

}  // namespace gradus

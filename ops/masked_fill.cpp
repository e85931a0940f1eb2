#include "core/elementwise.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus {
namespace {

struct MaskedFill {
  double value;
  static constexpr OpInfo info{
      .name = "masked_fill",
      .math = R"(y = m ? v : x)",
      .rule = "\\bar x = m ? 0 : \\bar y\n\\text{none}",
      .derivation = R"(Where the mask is true y is the constant v, so x gets an exact 0 there, whatever it holds:
selected, never multiplied. Elsewhere y is x.)",
      .why_kept = "the mask, and not x",
      .numpy = "np.where({mask}, {value}, {x})"};

  Forward forward(const Tensor& x, const Tensor& mask) const {
    const Tensor m(mask.storage(), broadcast_to("masked_fill", mask.layout(), x.shape()), DType::b8);
    return dispatch(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor y(x.shape(), x.dtype());
      map_into<T>([fill = static_cast<T>(value)](T v, bool hidden) { return hidden ? fill : v; }, y, x, m);
      return Forward(y, mask.detach());
    });
  }
  Grads vjp(const Vjp& v) const { return {where(v.residuals[0], 0.0, v.g), Tensor{}}; }

  static void samples(Samples& s) {
    s.add(masked_fill, s.randn({2, 3}), s.bools({2, 3}), -1.5).for_benchmark();
    s.add(masked_fill, s.randn({2, 4, 3}), s.bools({4, 1}), 0);
    s.add(masked_fill, s.randn({2, 3}), s.bools({2, 3}), -std::numeric_limits<double>::infinity());
    s.add(masked_fill, s.randn({}), s.bools({}), 2);
    s.add(masked_fill, s.randn({0, 3}), s.bools({3}), 2);
    s.add(masked_fill, s.indices({4}, 5), s.bools({4}), -100);
    s.error("the mask has dtype f64, not b8", masked_fill, s.randn({3}), s.randn({3}), 0);
    s.error("shape [3] does not expand to [2]", masked_fill, s.randn({2}), s.bools({3}), 0);
    s.error("the value 0.5 does not fit dtype i64", masked_fill, s.indices({3}, 4), s.bools({3}), 0.5);
  }
};

const Register<MaskedFill> registered{masked_fill, {"x", "mask", "value"}};

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  if (mask.dtype() != DType::b8)
    fail("masked_fill: the mask has dtype {}, not b8; compare first, as in x > 0", mask.dtype());
  if (x.dtype() == DType::i64 && (value != std::nearbyint(value) || !(std::abs(value) <= 0x1p62)))
    fail("masked_fill: the value {} does not fit dtype i64; cast x to f32 or f64", value);
  return apply(MaskedFill{value}, x, mask);
}

}  // namespace gradus

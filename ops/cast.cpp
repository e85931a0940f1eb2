#include "core/elementwise.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus {
namespace {

// Anything but 0 is true; integers are cut towards 0, at the ends of their range where the number lies beyond; NaN is
// 0.
template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_same_v<To, std::int64_t> && std::is_floating_point_v<From>) {
    constexpr From end = static_cast<From>(0x1p63);
    if (v >= end) return std::numeric_limits<To>::max();
    if (v < -end) return std::numeric_limits<To>::lowest();
    return v != v ? To{0} : static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

struct Cast {
  DType dtype;
  static constexpr OpInfo info{
      .name = "cast",
      .math = R"(y = x)",
      .rule = R"(\bar x = \bar y)",
      .derivation = R"(The same numbers in another type, with slope 1: the cotangent is cast back. Rounding is
not part of the mathematics. i64 and b8 have no gradient.)",
      .why_kept = "only the dtype of x, which the ghost knows",
      .numpy = "{x}.astype({dtype})"};

  Tensor forward(const Tensor& x) const {
    return dispatch(dtype, [&](auto to) {
      return dispatch(x.dtype(), [&](auto from) {
        using To = decltype(to);
        using From = decltype(from);
        return map<To>([](From v) { return convert<To>(v); }, x);
      });
    });
  }
  Grads vjp(const Vjp& v) const { return {cast(v.g, v.x[0].dtype())}; }

  static void samples(Samples& s) {
    s.add(cast, s.randn({2, 5}), DType::f32).at_kink().for_benchmark();  // f32 steps are no slope
    s.add(cast, s.randn({2, 5}), DType::f64);
    s.add(cast, s.randn({}), DType::i64);
    s.add(cast, s.randn({0, 3}), DType::f32).at_kink();
    s.add(cast, s.tensor({0.0, -0.5, 2.0}), DType::b8);
    s.add(cast, s.bools({2, 3}), DType::f64);
    s.add(cast, s.indices({4}, 9), DType::f32);
    s.error("argument x is None; give a tensor", cast, Tensor{}, DType::f32);
  }
};

const Register<Cast> registered{cast, {"x", "dtype"}};

}  // namespace

Tensor cast(const Tensor& x, DType dtype) {
  if (!x.defined()) fail("cast: x is undefined; make a tensor first");
  return x.dtype() == dtype ? x : apply(Cast{dtype}, x);
}
Tensor Tensor::to(DType dtype) const { return cast(*this, dtype); }

}  // namespace gradus

#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Clamp {
  std::optional<double> low, high;
  static constexpr OpInfo info{
      .name = "clamp",
      .math = R"(y = \min(\max(x, l), h))",
      .rule = R"(\bar x = l \le x \le h ? \bar y : 0)",
      .derivation = R"(Between the bounds y is x, with slope 1; outside it is constant. At the kinks, where x
equals a bound, the slope is chosen to be 1. NaN stays NaN.)",
      .why_kept = "the rule compares x with the bounds",
      .numpy = "np.clip({x}, {low}, {high})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return dispatch_number("clamp", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      using Limits = std::numeric_limits<T>;
      const T l = low ? static_cast<T>(*low) : (Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
      const T h = high ? static_cast<T>(*high) : (Limits::has_infinity ? Limits::infinity() : Limits::max());
      return map<T>([l, h](T v) { return v < l ? l : (v > h ? h : v); }, x);
    });
  }
  Grads vjp(const Vjp& v) const {
    Tensor dx = v.g;
    if (low) dx = where(v.x[0] < *low, 0.0, dx);
    if (high) dx = where(v.x[0] > *high, 0.0, dx);
    return {dx};
  }

  static void samples(Samples& s) {
    s.add(clamp, s.randn({2, 5}), -0.5, 0.7).for_benchmark();
    s.add(clamp, s.randn({2, 5}), 0.1);
    s.add(clamp, s.randn({}), std::nullopt, 0.2);
    s.add(clamp, s.randn({0, 3}), -1, 1);
    s.add(clamp, s.tensor({-1.0, 0.0, 1.0}), -1, 1).at_kink();
    s.add(clamp, s.indices({6}, 9), 2, 5);
    s.error("low 2 is above high 1", clamp, s.randn({3}), 2, 1);
    s.error("give low, high or both", clamp, s.randn({3}));
    s.error("the bound 0.5 does not fit dtype i64", clamp, s.indices({3}, 4), 0.5);
    s.error("dtype b8 holds truth values", clamp, s.bools({3}), 0, 1);
  }
};

const Register<Clamp> registered{clamp, {"x", {"low", None}, {"high", None}}};

void check_bounds(const Tensor& x, const std::optional<double>& low, const std::optional<double>& high) {
  if (!low && !high) fail("clamp: there is no bound; give low, high or both");
  for (const auto& bound : {low, high}) {
    if (!bound) continue;
    if (std::isnan(*bound)) fail("clamp: a bound is NaN; give a number, or None for no bound");
    if (x.dtype() == DType::i64 && (*bound != std::nearbyint(*bound) || std::abs(*bound) > 0x1p62))
      fail("clamp: the bound {} does not fit dtype i64; cast x to f32 or f64", *bound);
  }
  if (low && high && *low > *high) fail("clamp: low {} is above high {}; exchange them", *low, *high);
}

}  // namespace

Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high) {
  check_bounds(x, low, high);
  return apply(Clamp{low, high}, x);
}

}  // namespace gradus

#include "core/vector_math.hpp"
#include "ops/activation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

// The f32 functions against double over the whole range: every 4,001st bit pattern (a prime, so that all exponents and
// varied mantissas occur), and the special values.
namespace {

using namespace gradus;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Worst {
  double ulps = 0, absolute = 0;
  float at = 0;
  int wrong = 0;  // NaN, infinity or the sign of a zero where it should not be, or missing where it should
};

// The distance in units of the last place of the right answer (at least the smallest normal number's).
template <class F, class R>
Worst against(F f, R reference, float low = -infinity, float high = infinity) {
  Worst worst;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 4001) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (x < low || x > high) continue;
    const float y = f(x);
    const double right = reference(static_cast<double>(x));
    if (std::isnan(right) || std::isnan(y)) {
      worst.wrong += std::isnan(right) != std::isnan(y);
    } else if (std::isinf(static_cast<float>(right)) || std::isinf(y)) {
      worst.wrong += static_cast<float>(right) != y;
    } else {
      const double distance = std::abs(static_cast<double>(y) - right);
      const double unit = std::ldexp(1.0, std::ilogb(std::max(std::abs(right), 0x1p-126)) - 23);
      if (distance / unit > worst.ulps) worst.ulps = distance / unit, worst.at = x;
      worst.absolute = std::max(worst.absolute, distance);
      worst.wrong += right == 0 && y == 0 && std::signbit(right) != std::signbit(y);
    }
  }
  return worst;
}

void check_within(double ulps, const Worst& worst) {
  INFO("worst: ", worst.ulps, " ulps at ", worst.at);
  CHECK(worst.ulps <= ulps);
  CHECK(worst.wrong == 0);
}

}  // namespace

// Limits are what was measured with and without fused multiply-add, rounded up.
TEST_CASE("f32 exp and log are within one and a half units in the last place everywhere") {
  check_within(1.5, against([](float x) { return math::exp(x); }, [](double x) { return std::exp(x); }));
  check_within(1.5, against([](float x) { return math::log(x); }, [](double x) { return std::log(x); }));
}

TEST_CASE("the gate is sigmoid but for results below 2e-38, which are 0") {
  for (float x = -86.5F; x < 100; x += 0.37F) {
    const double exact = 1 / (1 + std::exp(-static_cast<double>(x)));
    CHECK(std::abs(math::gate(x) - exact) <= 4e-7 * exact);  // a few units in the last place
  }
  CHECK(math::gate(-90.0F) == 0);
  CHECK(std::isnan(math::gate(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("f32 tanh, sigmoid, expm1 and log1p are within three units in the last place everywhere") {
  check_within(2, against([](float x) { return math::tanh(x); }, [](double x) { return std::tanh(x); }));
  check_within(3, against([](float x) { return math::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }));
  check_within(2.5, against([](float x) { return math::expm1(x); }, [](double x) { return std::expm1(x); }));
  check_within(3, against([](float x) { return math::log1p(x); }, [](double x) { return std::log1p(x); }));
}

TEST_CASE("f32 erf is within three units in the last place and 2e-7, erfc within 1e-5 of itself in the tail") {
  const Worst erf = against([](float x) { return math::erf(x); }, [](double x) { return std::erf(x); });
  check_within(2.5, erf);
  CHECK(erf.absolute <= 2e-7);
  check_within(4, against([](float x) { return math::erfc(x); }, [](double x) { return std::erfc(x); }, -10, 0.5F));
  check_within(80, against([](float x) { return math::erfc(x); }, [](double x) { return std::erfc(x); }));
}

TEST_CASE("f32 functions keep zeros, infinities and NaN as the standard library does") {
  CHECK(math::exp(-infinity) == 0);
  CHECK(math::exp(infinity) == infinity);
  CHECK(math::exp(-0.0F) == 1);
  CHECK(math::log(0.0F) == -infinity);
  CHECK(math::log(-0.0F) == -infinity);
  CHECK(math::log(infinity) == infinity);
  CHECK(std::isnan(math::log(-1.0F)));
  CHECK(std::isnan(math::log(-infinity)));
  CHECK(math::log(1.0F) == 0);
  CHECK(std::abs(math::log(1e-45F) + 103.2789F) < 1e-4F);  // the smallest subnormal
  CHECK(math::tanh(infinity) == 1);
  CHECK(math::tanh(-infinity) == -1);
  CHECK(std::signbit(math::tanh(-0.0F)));
  CHECK(math::tanh(1e-45F) == 1e-45F);
  CHECK(math::sigmoid(-infinity) == 0);
  CHECK(math::sigmoid(infinity) == 1);
  CHECK(math::sigmoid(-0.0F) == 0.5F);
  CHECK(math::erf(infinity) == 1);
  CHECK(math::erf(-infinity) == -1);
  CHECK(std::signbit(math::erf(-0.0F)));
  CHECK(math::erfc(-infinity) == 2);
  CHECK(math::erfc(infinity) == 0);
  CHECK(math::expm1(-infinity) == -1);
  CHECK(std::signbit(math::expm1(-0.0F)));
  CHECK(math::log1p(-1.0F) == -infinity);
  CHECK(math::log1p(infinity) == infinity);
  CHECK(std::isnan(math::log1p(-2.0F)));
  using Function = float (*)(float);
  for (const Function f :
       {Function{math::exp}, Function{math::log}, Function{math::tanh}, Function{math::sigmoid<float>},
        Function{math::erf}, Function{math::erfc}, Function{math::expm1}, Function{math::log1p}}) {
    CHECK(std::isnan(f(not_a_number)));
    CHECK(std::isnan(f(-not_a_number)));
  }
}

TEST_CASE("f32 activations and their slopes follow their f64 selves, to 4e-7 of max(1, |x|)") {
  const auto follow = [](auto f) {
    double worst = 0;
    for (float x = -130; x < 130; x += 0.0137F) {
      const double y = f(static_cast<double>(x));
      worst = std::max(worst, std::abs(static_cast<double>(f(x)) - y) / std::max(1.0F, std::abs(x)));
    }
    return worst;
  };
  CHECK(follow([](auto x) { return activation::normal_cdf(x); }) <= 2e-7);
  CHECK(follow([](auto x) { return activation::gelu(x); }) <= 4e-7);
  CHECK(follow([](auto x) { return activation::gelu_slope(x); }) <= 4e-7);
  CHECK(follow([](auto x) { return activation::gelu_tanh(x); }) <= 4e-7);
  CHECK(follow([](auto x) { return activation::gelu_tanh_slope(x); }) <= 4e-7);
  CHECK(follow([](auto x) { return activation::silu(x); }) <= 4e-7);
  CHECK(follow([](auto x) { return activation::silu_slope(x); }) <= 4e-7);
}

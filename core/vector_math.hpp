#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// exp, log, tanh, erf and kin that compilers vectorise: straight-line code with selections. tests/vector_math_test.cpp
// measures each over the f32 range and holds its error. GCC does not vectorise std::exp without -ffast-math. For double
// they are the standard library's: f64 is for checking, where exactness comes first.
namespace gradus::math {

inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double erfc(double x) { return std::erfc(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log1p(double x) { return std::log1p(x); }

/// e^c = 2^k p in its two parts, for |c| up to 104: k = round(c / ln 2), p = e^r with |r| <= ln 2 / 2 by its Taylor polynomial
/// of degree 7 (remainder below 6e-9).
struct PowerOfTwo {
  float p;
  std::int32_t k;
};
inline PowerOfTwo power_of_two(float c) {
  const float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float t = c * 1.44269504F + magic;
  const float n = t - magic;
  float r = c - n * 0.693145752F;  // ln 2 in two parts: n times the first is exact
  r = r - n * 1.42860677e-6F;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  return {p, std::bit_cast<std::int32_t>(t) - std::bit_cast<std::int32_t>(magic)};
}

/// e^x, over the whole range of float.
inline float exp(float x) {
  const float low = -104.0F, high = 89.0F;
  const float c = x < low ? low : (x > high ? high : x);  // NaN stays NaN
  const auto [p, k] = power_of_two(c);
  const std::int32_t half = k >> 1;  // in two factors, since 2^n itself may be subnormal or overflow
  const float scale_a = std::bit_cast<float>((half + 127) << 23);
  const float scale_b = std::bit_cast<float>((k - half + 127) << 23);
  const float y = p * scale_a * scale_b;
  return x != x ? x : y;
}

/// log x = k ln 2 + 2 atanh(s) with x = 2^k m, m in [sqrt(1/2), sqrt(2)), s = (m-1)/(m+1), by the series of atanh up to
/// s^9.
inline float log(float x) {
  const bool subnormal = x < 1.17549435e-38F;
  const float scaled = subnormal ? x * 8388608.0F : x;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);  // unsigned: negative x, not used, would overflow
  const std::int32_t k = static_cast<std::int32_t>(bits - 0x3f3504f3U) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(k) << 23));
  const float e = static_cast<float>(k) - (subnormal ? 23.0F : 0.0F);
  const float f = m - 1.0F;
  const float s = f / (2.0F + f);
  const float z = s * s;
  float p = 2.0F / 9;
  p = p * z + 2.0F / 7;
  p = p * z + 2.0F / 5;
  p = p * z + 2.0F / 3;
  // 2 s + s z p, with 2 s = f - s f kept exact in its leading part
  const float y = f - s * (f - z * p) + e * 1.42860677e-6F + e * 0.693145752F;
  const float infinity = std::numeric_limits<float>::infinity();
  const float special = x == 0.0F ? -infinity : (x == infinity ? infinity : std::numeric_limits<float>::quiet_NaN());
  return x > 0.0F && x < infinity ? y : special;
}

/// Below 0.625 Lambert's continued fraction to the fifth level (error 6e-10), x - x^3 (315 + 14 x^2) / (945 + 420 x^2 +
/// 15 x^4), above 1 - 2 / (e^{2x} + 1): in both a small quotient is taken from an exact number.
inline float tanh(float x) {
  const float a = std::fabs(x);
  const float c = a > 9.1F ? 9.1F : a;
  const float z = x * x;
  const float e = exp(2.0F * c);
  const bool small = a < 0.625F;
  const float top = small ? a * z * (315.0F + z * 14.0F) : 2.0F;
  const float bottom = small ? 945.0F + z * (420.0F + z * 15.0F) : e + 1.0F;
  const float y = (small ? a : 1.0F) - top / bottom;
  return std::copysign(y, x);  // keeps -0 and NaN
}

/// e^x - 1: below 0.5 its Taylor polynomial of degree 8, so that nothing cancels.
inline float expm1(float x) {
  float p = 1.0F / 40320;
  p = p * x + 1.0F / 5040;
  p = p * x + 1.0F / 720;
  p = p * x + 1.0F / 120;
  p = p * x + 1.0F / 24;
  p = p * x + 1.0F / 6;
  p = p * x + 0.5F;
  const float small = x + x * x * p;
  const float large = exp(x) - 1.0F;
  return x == 0.0F ? x : (std::fabs(x) < 0.5F ? small : large);
}

/// log(1 + x) = log(u) x / (u - 1) with u = fl(1 + x): the rounding of u cancels (Kahan).
inline float log1p(float x) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float u = 1.0F + x;
  const float y = log(u) * (x / (u - 1.0F));
  return u == 1.0F || x == infinity ? x : y;
}

/// e^{x^2} erfc(x) for x >= 0, the scaled tail, as p(w) / (x + 2) with w = x / (x + 2), which maps [0, inf) to [0, 1).
/// p was fitted here to [0, 10.5] in the minimax sense (Lawson's reweighted least squares), relative error 2.2e-8; p(0)
/// = 2 exactly.
inline float scaled_erfc(float x) {
  const float r = 1.0F / (x + 2.0F);
  const float w = x * r;
  float p = -0.0216269754F;
  p = p * w - 0.036274638F;
  p = p * w + 0.24656418F;
  p = p * w - 0.187621921F;
  p = p * w - 0.101452768F;
  p = p * w - 0.221664146F;
  p = p * w + 0.427036375F;
  p = p * w + 0.972683609F;
  p = p * w - 2.51350808F;
  p = p * w + 2.0F;
  return r * p;
}

/// 1 - erf x. In the tail the relative error stays below 1e-5 (that of e^{-x^2} by the rounding of x^2).
inline float erfc(float x) {
  const float a = std::fabs(x);
  const float c = a > 10.5F ? 10.5F : a;  // erfc(10.5) is below every float
  const float tail = scaled_erfc(c) * exp(-c * c);
  return x < 0 ? 2.0F - tail : tail;
}

/// Below 0.7 an odd polynomial of degree 11, fitted here (relative error 6e-10), above 1 - erfc.
inline float erf(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = -0.000695676543F;
  p = p * z + 0.0051390552F;
  p = p * z - 0.0268448442F;
  p = p * z + 0.112835474F;
  p = p * z - 0.376126289F;
  p = p * z + 0.128379226F;  // + 1, added last: x + x p loses less than x (1 + p)
  const float small = a + a * p;
  const float y = a < 0.7F ? small : 1.0F - erfc(a);
  return std::copysign(y, x);
}

/// 1 / (1 + e^-x), without overflow at either end.
template <class T>
inline T sigmoid(T x) {
  const T e = exp(x < 0 ? x : -x);
  const T small = e / (T{1} + e);
  return x < 0 ? small : (x != x ? x : T{1} / (T{1} + e));
}

/// e^x for x <= 0, but 0 below -87 (where e^x < 2e-38): exp without what overflow and subnormal numbers cost.
inline float exp_of_negative(float x) {
  const float c = x < -87.0F ? -87.0F : x;
  const auto [p, k] = power_of_two(c);
  const float y = p * std::bit_cast<float>((k + 127) << 23);
  return x < -87.0F ? 0.0F : y;
}
inline double exp_of_negative(double x) { return std::exp(x); }

/// sigmoid for use as a gate, g x: the same but for results below 2e-38, which are 0. One division.
template <class T>
inline T gate(T x) {
  const T e = exp_of_negative(-std::abs(x));
  return (x < 0 ? e : T{1}) / (T{1} + e);
}

}  // namespace gradus::math

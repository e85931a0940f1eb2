#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// exp, log and tanh that compilers vectorise: straight-line code with selections, within 2 units in the last place in f32. GCC does not
// vectorise std::exp without -ffast-math. For double they are the standard library's: f64 is for checking, where exactness comes first.
namespace gradus::math {

inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }

/// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 7 (remainder below 6e-9).
inline float exp(float x) {
  const float low = -104.0F, high = 89.0F;
  const float c = x < low ? low : (x > high ? high : x);  // NaN stays NaN
  const float magic = 12582912.0F;                        // 1.5 * 2^23: adding it rounds to an integer
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
  const std::int32_t k = std::bit_cast<std::int32_t>(t) - std::bit_cast<std::int32_t>(magic);
  const std::int32_t half = k >> 1;  // in two factors, since 2^n itself may be subnormal or overflow
  const float scale_a = std::bit_cast<float>((half + 127) << 23);
  const float scale_b = std::bit_cast<float>((k - half + 127) << 23);
  const float y = p * scale_a * scale_b;
  return x != x ? x : y;
}

/// log x = k ln 2 + 2 atanh(s) with x = 2^k m, m in [sqrt(1/2), sqrt(2)), s = (m-1)/(m+1), by the series of atanh up to s^9.
inline float log(float x) {
  const bool subnormal = x < 1.17549435e-38F;
  const float scaled = subnormal ? x * 8388608.0F : x;
  const std::int32_t bits = std::bit_cast<std::int32_t>(scaled);
  const std::int32_t k = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - (k << 23));
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

/// Below 0.625 Lambert's continued fraction to the fifth level (error 6e-10), above (e^{2x} - 1) / (e^{2x} + 1).
inline float tanh(float x) {
  const float a = x < 0 ? -x : x;
  const float c = a > 9.1F ? 9.1F : a;
  const float z = x * x;
  const float e = exp(2.0F * c);
  const bool small = a < 0.625F;
  const float top = small ? a * (945.0F + z * (105.0F + z)) : e - 1.0F;
  const float bottom = small ? 945.0F + z * (420.0F + z * 15.0F) : e + 1.0F;
  const float y = top / bottom;
  return x != x ? x : (x < 0 ? -y : y);
}

/// 1 / (1 + e^-x), without overflow at either end.
template <class T>
inline T sigmoid(T x) {
  const T e = exp(x < 0 ? x : -x);
  const T small = e / (T{1} + e);
  return x < 0 ? small : (x != x ? x : T{1} / (T{1} + e));
}

}  // namespace gradus::math

#pragma once
#include "core/vector_math.hpp"

// The activations and their slopes as functions of one element, for the kernels of their own ops and of ops that
// contain them. Generic over float and double, straight-line so that compilers vectorise them. NaN stays NaN. Far from
// 0 each slope is constant, so the argument is clipped where it no longer matters: infinity times a vanishing factor
// would make NaN of the limit.
namespace gradus::activation {

/// x from above `low` on, else `low`; NaN stays.
template <class T>
inline T at_least(T x, T low) {
  return x < low ? low : x;
}
/// x within [-bound, bound]; NaN stays.
template <class T>
inline T within(T x, T bound) {
  return x < -bound ? -bound : (x > bound ? bound : x);
}

/// Beyond these bounds the normal distribution, the logistic function and gelu_tanh's gate are 0 or 1, to the last bit
/// in f64.
inline constexpr double normal_bound = 40, logistic_bound = 800, gelu_tanh_bound = 30;

template <class T>
inline T relu(T x) {
  return x <= 0 ? T{0} : x;
}
template <class T>
inline T relu_slope(T x) {
  return x > 0 ? T{1} : T{0};
}

/// Phi(-a) for a >= 0, the upper tail of the normal distribution, given e = e^{-a^2 / 2}.
inline float normal_tail(float a, float e) { return 0.5F * math::scaled_erfc(a * 0.707106781F) * e; }
inline double normal_tail(double a, double) { return 0.5 * std::erfc(a * 0.70710678118654752); }

/// Phi(x), the standard normal distribution function.
template <class T>
inline T normal_cdf(T x) {
  const T z = within(x, T{normal_bound}), a = std::abs(z);
  const T tail = normal_tail(a, math::exp(T(-0.5) * a * a));
  return z < 0 ? tail : T{1} - tail;
}

/// x Phi(x).
template <class T>
inline T gelu(T x) {
  return at_least(x, T{-normal_bound}) * normal_cdf(x);
}
/// Phi(x) + x phi(x).
template <class T>
inline T gelu_slope(T x) {
  const T z = within(x, T{normal_bound}), a = std::abs(z);
  const T e = math::exp(T(-0.5) * a * a);
  const T tail = normal_tail(a, e);
  return (z < 0 ? tail : T{1} - tail) + z * (e * T(0.39894228040143267794));  // 1 / sqrt(2 pi)
}

/// x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
template <class T>
inline T gelu_tanh(T x) {
  const T z = at_least(x, T{-gelu_tanh_bound});
  return z * math::gate(T(1.5957691216057308) * z * (T{1} + T(0.044715) * z * z));
}
/// s + x s (1 - s) (2u)' with s = sigmoid(2u).
template <class T>
inline T gelu_tanh_slope(T x) {
  const T z = within(x, T{gelu_tanh_bound});
  const T s = math::gate(T(1.5957691216057308) * z * (T{1} + T(0.044715) * z * z));
  return s + z * s * (T{1} - s) * (T(1.5957691216057308) * (T{1} + T(0.134145) * z * z));
}

/// x sigmoid(x).
template <class T>
inline T silu(T x) {
  const T z = at_least(x, T{-logistic_bound});
  return z * math::gate(z);
}
/// s (1 + x (1 - s)) with s = sigmoid(x).
template <class T>
inline T silu_slope(T x) {
  const T z = within(x, T{logistic_bound});
  const T s = math::gate(z);
  return s * (T{1} + z * (T{1} - s));
}

}  // namespace gradus::activation

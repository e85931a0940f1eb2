#pragma once
#include "core/elementwise.hpp"

#include <cmath>

// The product in every elementwise rule, cotangent times local derivative: 0 where the cotangent is exactly 0 **and**
// the derivative is not finite, so that a branch not taken (a cotangent of 0 from `where`) cannot turn infinity into
// NaN. Selecting on the cotangent alone would make second derivatives wrong.
namespace gradus {

template <class T>
inline T local_product_of(T g, T derivative) {
  return g == T{0} && !(std::abs(derivative) <= std::numeric_limits<T>::max()) ? T{0} : g * derivative;
}

/// g * derivative in the sense above, as a differentiable op: for composite rules. Shapes are equal or broadcast.
Tensor local_product(const Tensor& g, const Tensor& derivative);

/// The same with the derivative computed from x on the fly, in one kernel: for fused rules. `derivative` takes and
/// returns T, generically.
template <class F>
Tensor local_product_map(const Tensor& g, const Tensor& x, F derivative) {
  return dispatch_floating("rule", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_broadcast<T>(
        "rule", [derivative](T c, T v) { return local_product_of(c, derivative(v)); }, g, x);
  });
}

/// The same for derivatives that depend on both inputs of an op, derivative(a, b), with broadcasting.
template <class F>
Tensor local_product_map(const Tensor& g, const Tensor& a, const Tensor& b, F derivative) {
  return dispatch_floating("rule", g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_broadcast<T>(
        "rule", [derivative](T c, T u, T v) { return local_product_of(c, derivative(u, v)); }, g, a, b);
  });
}

/// f of each element of a floating tensor; f is generic over float and double. `op` names the caller in errors.
template <class F>
Tensor map_floating(const char* op, const Tensor& x, F f) {
  return dispatch_floating(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map<T>([f](T v) { return static_cast<T>(f(v)); }, x);
  });
}

/// f(a, b) of floating tensors of one dtype, with broadcasting.
template <class F>
Tensor map_floating(const char* op, const Tensor& a, const Tensor& b, F f) {
  return dispatch_floating(op, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_broadcast<T>(
        op, [f](T u, T v) { return static_cast<T>(f(u, v)); }, a, b);
  });
}

/// f of each element of a floating or i64 tensor.
template <class F>
Tensor map_numbers(const char* op, const Tensor& x, F f) {
  return dispatch_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map<T>([f](T v) { return static_cast<T>(f(v)); }, x);
  });
}

/// f(a, b) of floating or i64 tensors of one dtype, with broadcasting.
template <class F>
Tensor map_numbers(const char* op, const Tensor& a, const Tensor& b, F f) {
  return dispatch_number(op, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_broadcast<T>(
        op, [f](T u, T v) { return static_cast<T>(f(u, v)); }, a, b);
  });
}

}  // namespace gradus

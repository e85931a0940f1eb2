#pragma once
#include "core/check.hpp"

// Derivatives other than the gradient, all built from core/grad.hpp. x is taken as a leaf of its own: its graph, if it
// has one, is not entered.
namespace gradus {

/// J v: how f(x) changes along v (the shape of x). [y...]. By double reverse: the gradient J^T c is linear in c, so
/// that its derivative with respect to c in the direction v is J v, at any c; c is ones here. Error when f(x) is not
/// f32 or f64.
Tensor jvp(const TensorFunction& f, std::span<const Tensor> x, std::span<const Tensor> v);
Tensor jvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);

/// J[i..., j...] = d y[i...] / d x[j...], one reverse pass for each element of y. [y..., x...].
Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

/// H[i..., j...] = d^2 y / d x[i...] d x[j...] of a one-element y, one reverse pass through the gradient for each
/// element of x. [x..., x...].
Tensor hessian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

/// H v without H: the gradient of (the gradient of f) . v. [x...]. f(x) has one element.
Tensor hvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);

}  // namespace gradus

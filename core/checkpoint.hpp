#pragma once
#include "core/tensor.hpp"

#include <functional>

namespace gradus {

/// f(x), of whose inside nothing is kept for backward: backward runs f again (Chen et al. 2016, "Training deep nets with
/// sublinear memory cost"). Parameters that f reads get their gradients, random numbers that it draws from the default
/// generator are drawn again, and gradients of gradients are right. f must compute the same each time. Error when f reads a
/// result of a recorded op other than x: make it part of x, or compute it inside.
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

}  // namespace gradus

#pragma once
#include "ops/ops.hpp"

namespace gradus {

/// The cotangent that a gets from maximum(a, b): all of g where a is larger, half where they tie, else 0.
inline Tensor share_of_larger(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(a == b, 0.5 * g, where(a > b, g, 0.0));
}
/// The cotangent that a gets from minimum(a, b).
inline Tensor share_of_smaller(const Tensor& g, const Tensor& a, const Tensor& b) { return share_of_larger(g, b, a); }

}  // namespace gradus

#pragma once
#include "core/elementwise.hpp"

namespace gradus {

/// The kernel of the comparisons: b8, f(a, b) elementwise, with broadcasting, for every dtype. `op` names the caller in
/// errors.
template <class F>
Tensor compare(const char* op, const Tensor& a, const Tensor& b, F f) {
  return dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_broadcast<bool>(
        op, [f](T u, T v) { return f(u, v); }, a, b);
  });
}

}  // namespace gradus

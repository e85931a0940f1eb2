#pragma once
#include "optim/optimizer.hpp"

namespace gradus {

/// What clip_by_norm found and did.
struct Clipped {
  double norm = 0;         ///< of all gradients together, before clipping
  double scale = 1;        ///< what they were multiplied by
  std::string non_finite;  ///< the first parameter whose gradient holds NaN or infinity; then nothing was changed
  bool finite() const { return non_finite.empty(); }
};

/// Scales all gradients by max_norm / (norm + 1e-6) where that is below 1. norm = (sum |g|^p)^(1/p) over all elements
/// of all gradients, p = 1, 2 or infinity, measured in double. A norm that is not finite leaves the gradients alone and
/// says which parameter it is. Error for a negative max_norm or another p. Pascanu, Mikolov and Bengio, "On the
/// difficulty of training recurrent neural networks" (2013).
Clipped clip_by_norm(const Parameters& parameters, double max_norm, double p = 2);

/// Clamps each element of each gradient into [-limit, limit]; NaN stays NaN. Error for a negative limit.
void clip_by_value(const Parameters& parameters, double limit);

}  // namespace gradus

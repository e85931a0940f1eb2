#pragma once
#include "nn/module.hpp"

namespace gradus::nn {

/// In training zeroes each element with probability p and scales the others by 1/(1-p); the identity after `eval`
/// (Srivastava et al. 2014).
struct Dropout {
  double p;
  bool training = true;

  /// Error unless 0 <= p <= 1.
  explicit Dropout(double probability = 0.5);
  Tensor operator()(const Tensor& x) const;
  /// p in training, else 0: for ops with dropout inside.
  double active() const { return training ? p : 0; }
  void parts(auto&&) {}
};

}  // namespace gradus::nn

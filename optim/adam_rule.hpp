#pragma once
#include "optim/optimizer.hpp"

#include <algorithm>
#include <cmath>

// The part that Adam and AdamW share; the equations stand in optim/adam.cpp and optim/adamw.cpp.
namespace gradus {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;       ///< how much of the mean of gradients a step keeps
  double beta2 = 0.999;     ///< how much of the mean of squared gradients a step keeps
  double eps = 1e-8;        ///< outside the bias-corrected root
  double weight_decay = 0;  ///< Adam: L2, added to the gradient
  bool amsgrad = false;     ///< divide by the largest second moment so far
  void check(const char* op) const;
};

/// The options of AdamW: Adam's, with its own default for the decay, which is applied to the weights before the step.
struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  void check(const char* op) const;
};

namespace detail {

inline std::vector<const char*> adam_state_names(bool amsgrad) {
  if (amsgrad) return {"m", "v", "v_max"};
  return {"m", "v"};
}

/// p <- shrink p;  g <- g + decay p;  moments;  p <- p - a m_hat / (sqrt(v_hat) + eps).
template <class T, class Options>
void adam_update(const UpdatePiece<T>& piece, const Options& o, double shrink_by, double l2) {
  const double t = static_cast<double>(piece.t);
  const T shrink = static_cast<T>(shrink_by), decay = static_cast<T>(l2), eps = static_cast<T>(o.eps);
  const T keep1 = static_cast<T>(o.beta1), take1 = static_cast<T>(1 - o.beta1);
  const T keep2 = static_cast<T>(o.beta2), take2 = static_cast<T>(1 - o.beta2);
  const T rate = static_cast<T>(o.learning_rate / (1 - std::pow(o.beta1, t)));
  const T root = static_cast<T>(1 / std::sqrt(1 - std::pow(o.beta2, t)));
  T* __restrict__ const p = piece.p;
  const T* __restrict__ const g = piece.g;
  T* __restrict__ const m = piece.state[0];
  T* __restrict__ const v = piece.state[1];
  T* __restrict__ const v_max = piece.state[2];
  const auto moments = [&](std::int64_t i) {
    p[i] *= shrink;
    const T d = g[i] + decay * p[i];
    m[i] = keep1 * m[i] + take1 * d;
    v[i] = keep2 * v[i] + take2 * d * d;
  };
  if (!o.amsgrad) {
    for (std::int64_t i = 0; i < piece.n; ++i) {
      moments(i);
      p[i] -= rate * m[i] / (std::sqrt(v[i]) * root + eps);
    }
  } else {
    for (std::int64_t i = 0; i < piece.n; ++i) {
      moments(i);
      v_max[i] = v[i] > v_max[i] || v[i] != v[i] ? v[i] : v_max[i];
      p[i] -= rate * m[i] / (std::sqrt(v_max[i]) * root + eps);
    }
  }
}

template <class Options>
void check_adam(const char* op, const Options& o) {
  check_not_negative(op, "learning_rate", o.learning_rate);
  check_decay_rate(op, "beta1", o.beta1);
  check_decay_rate(op, "beta2", o.beta2);
  check_not_negative(op, "eps", o.eps);
  check_not_negative(op, "weight_decay", o.weight_decay);
}

}  // namespace detail
}  // namespace gradus

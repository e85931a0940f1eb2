#include "optim/rmsprop.hpp"

#include <cmath>

// With learning rate a, running means of the squared gradient s and (centered) of the gradient m, momentum u, weight
// decay w:
//
//   g <- g + w p
//   s <- alpha s + (1 - alpha) g^2
//   m <- alpha m + (1 - alpha) g                          centered
//   d <- g / (sqrt(s) + eps)      or  g / (sqrt(s - m^2) + eps)
//   p <- p - a d                  or, with momentum,  v <- u v + d,  p <- p - a v
//
// Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning" (2012); centered: Graves, "Generating
// sequences with recurrent neural networks" (2013).
namespace gradus {
namespace {

template <class T>
void descend(const UpdatePiece<T>& piece, const RMSpropOptions& o) {
  const T rate = static_cast<T>(o.learning_rate), decay = static_cast<T>(o.weight_decay), eps = static_cast<T>(o.eps);
  const T keep = static_cast<T>(o.alpha), take = static_cast<T>(1 - o.alpha), momentum = static_cast<T>(o.momentum);
  T* const p = piece.p;
  T* const s = piece.state[0];
  T* const m = o.centered ? piece.state[1] : nullptr;
  T* const v = o.momentum != 0 ? piece.state[o.centered ? 2 : 1] : nullptr;
  for (std::int64_t i = 0; i < piece.n; ++i) {
    const T g = piece.g[i] + decay * p[i];
    s[i] = keep * s[i] + take * g * g;
    T square = s[i];
    if (m) {
      m[i] = keep * m[i] + take * g;
      square = std::max(square - m[i] * m[i], T{0});  // below 0 by rounding alone
    }
    T d = g / (std::sqrt(square) + eps);
    if (v) d = v[i] = momentum * v[i] + d;
    p[i] -= rate * d;
  }
}

}  // namespace

void RMSpropOptions::check(const char* op) const {
  check_not_negative(op, "learning_rate", learning_rate);
  check_decay_rate(op, "alpha", alpha);
  check_not_negative(op, "eps", eps);
  check_not_negative(op, "weight_decay", weight_decay);
  check_not_negative(op, "momentum", momentum);
}

std::vector<const char*> RMSprop::state_names(std::size_t group) const {
  std::vector<const char*> names{"square"};
  if (options(group).centered) names.push_back("mean");
  if (options(group).momentum != 0) names.push_back("velocity");
  return names;
}
void RMSprop::update(const UpdatePiece<float>& piece) const { descend(piece, options(piece.group)); }
void RMSprop::update(const UpdatePiece<double>& piece) const { descend(piece, options(piece.group)); }

}  // namespace gradus
